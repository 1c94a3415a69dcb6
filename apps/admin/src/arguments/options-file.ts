/** Options of a verb in a file, as JSON: `{"restaurant-column": "City", "only": ["Status=Delivered"], "decimal-comma": true}`. */
import { readFile, writeFile } from "node:fs/promises";
import type { Option } from "@commander-js/extra-typings";
import type { ColumnValue } from "@nightwriter/sales";
import { z } from "zod";
import { didYouMean } from "../nearest.ts";
import { UsageFault } from "../usage-fault.ts";
import { collect } from "./collect.ts";
import { columnValue } from "./column-value.ts";

/** By the option's name, without its dashes. */
export type GivenOptions = Readonly<Record<string, unknown>>;

/** What is needed of a verb's command. */
export interface OptionsOf {
  readonly options: readonly Option[];
  getOptionValue(name: string): unknown;
  getOptionValueSource(name: string): string | undefined;
  setOptionValueWithSource(name: string, value: unknown, source: "config"): unknown;
}

/** Options that say what is done with one file, and nothing about how files of its kind are read. */
const ofOneCall = new Set(["options", "save-options", "dry-run", "json", "verbose"]);

/** After it returns the command has the file's options, but for those that were given on the command line. Throws UsageFault. */
export async function readOptionsFile(command: OptionsOf, path: string): Promise<void> {
  const options = new Map(command.options.flatMap((option) => (isOfOneCall(option) ? [] : [[nameOf(option), option]])));
  const schema = z.strictObject(Object.fromEntries([...options].map(([name, option]) => [name, valueSchema(option)])));
  const parsed = schema.safeParse(await readJson(path));
  if (!parsed.success) throw misread(path, parsed.error, [...options.keys()]);
  for (const [name, value] of Object.entries(parsed.data)) {
    const option = options.get(name);
    if (option === undefined || value === undefined) continue;
    if (command.getOptionValueSource(option.attributeName()) === "cli") continue;
    command.setOptionValueWithSource(option.attributeName(), parse(option, value, path), "config");
  }
}

/** The options that were given, on the command line or in a file, as such a file has them. */
export function givenOptions(command: OptionsOf): GivenOptions {
  const given = command.options.filter((option) => {
    const source = command.getOptionValueSource(option.attributeName());
    const isOther = option.negate !== (command.getOptionValue(option.attributeName()) === false);
    return !isOfOneCall(option) && !isOther && (source === "cli" || source === "config");
  });
  return Object.fromEntries(given.map((option) => [nameOf(option), written(option, command)]));
}

/** Throws UsageFault if there is such a file: options that somebody relies on are not overwritten. */
export async function saveOptions(path: string, options: GivenOptions): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(options, undefined, 2)}\n`, { flag: "wx" });
  } catch (error) {
    throw new UsageFault(`--save-options ${path}: cannot be written: ${reasonOf(error)}`, { path });
  }
}

function isOfOneCall(option: Option): boolean {
  return ofOneCall.has(nameOf(option));
}

function nameOf({ long }: Option): string {
  return (long ?? "").replace(/^--/, "");
}

function isRepeatable({ parseArg }: Option): boolean {
  return parseArg === collect || parseArg === columnValue;
}

function valueSchema(option: Option): z.ZodType<boolean | readonly string[] | undefined> {
  const text = z.union([z.string(), z.number().transform(String)]);
  if (option.isBoolean() || option.negate) return z.literal(true).optional();
  const one = text.transform((value) => [value]);
  return (isRepeatable(option) ? z.union([one, z.array(text)]) : one).optional();
}

function parse(option: Option, value: boolean | readonly string[], path: string): unknown {
  if (typeof value === "boolean") return !option.negate;
  const { parseArg } = option;
  let parsed: unknown;
  try {
    for (const text of value) parsed = parseArg === undefined ? text : parseArg(text, parsed);
  } catch (error) {
    throw new UsageFault(`${path}: ${nameOf(option)} ${JSON.stringify(value.join(", "))}: ${reasonOf(error)}`, {
      path,
    });
  }
  return parsed;
}

function written(option: Option, command: OptionsOf): unknown {
  const value = command.getOptionValue(option.attributeName());
  if (option.isBoolean() || option.negate) return true;
  return Array.isArray(value) ? value.map(textOf) : textOf(value);
}

function textOf(value: unknown): unknown {
  if (value instanceof Temporal.PlainDate) return value.toString();
  return isColumnValue(value) ? `${value.column}=${value.value}` : value;
}

function isColumnValue(value: unknown): value is ColumnValue {
  return typeof value === "object" && value !== null && "column" in value && "value" in value;
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new UsageFault(`--options ${path}: cannot be read: ${reasonOf(error)}`, { path });
  }
}

function misread(path: string, { issues }: z.ZodError, names: readonly string[]): UsageFault {
  const [issue] = issues;
  const name = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  if (name !== undefined) {
    return new UsageFault(
      `${path}: ${JSON.stringify(name)} is no option${didYouMean(name.replace(/^--/, ""), names)}`,
      {
        path,
        option: name,
      },
    );
  }
  const where = issue?.path.join(".") ?? "";
  const want =
    where === ""
      ? 'write an object, {"currency": "GBP"}'
      : "write a text, true for an option without a value, or a list of texts";
  return new UsageFault(
    `${path}: ${where === "" ? "is no object of options" : `${where} has no value that it can have`}; ${want}`,
    { path },
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
