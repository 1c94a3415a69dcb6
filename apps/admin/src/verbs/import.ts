import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { loadConfig } from "@nightwriter/config";
import { assertSchemaCompatible, type Database } from "@nightwriter/database";
import {
  type ColumnValue,
  type Encoding,
  type ImportOptions,
  type ImportProgress,
  type ImportResult,
  importSales,
  salesSchema,
} from "@nightwriter/sales";
import { type Acceptance, acceptances } from "@nightwriter/sales/acceptances";
import { actor } from "../actor.ts";
import { type Answer, answer } from "../answer.ts";
import { type GivenOptions, saveOptions } from "../arguments/options-file.ts";
import { badLinesShown, badLinesTable, delimiterFrom, noteBadLines } from "../bad-lines.ts";
import { connectDatabase } from "../connect-database.ts";
import { exitCode } from "../exit-code.ts";
import { describeFailure } from "../failure.ts";
import { openInput } from "../input.ts";
import { watchInterrupt } from "../interrupt.ts";
import { lookText } from "../look-text.ts";
import { openLogger } from "../open-logger.ts";
import { formatCount, plural } from "../output/format.ts";
import { formatSums } from "../output/money.ts";
import { type Progress, startProgress } from "../output/progress.ts";
import type { Terminal } from "../terminal.ts";
import { UsageFault } from "../usage-fault.ts";

export interface ImportFileOptions {
  readonly file: string;
  readonly restaurant?: string | undefined;
  readonly restaurantColumn?: string | undefined;
  /** False: `--no-create`. */
  readonly create?: boolean | undefined;
  readonly dateColumn?: string | undefined;
  readonly timeColumn?: string | undefined;
  readonly dateFormat?: string | undefined;
  readonly date?: Temporal.PlainDate | undefined;
  readonly zoneColumn?: string | undefined;
  readonly currencyColumn?: string | undefined;
  readonly zone?: string | undefined;
  readonly cutoff?: string | undefined;
  readonly amountColumn?: string | undefined;
  readonly quantityColumn?: string | undefined;
  readonly priceColumn?: string | undefined;
  readonly currency?: string | undefined;
  readonly decimalComma: boolean;
  readonly decimalCommaColumn?: readonly string[] | undefined;
  readonly delimiter?: string | undefined;
  readonly skipLines: number;
  readonly only?: readonly ColumnValue[] | undefined;
  readonly except?: readonly ColumnValue[] | undefined;
  readonly encoding: Encoding;
  readonly skipBad?: string | undefined;
  readonly idColumn?: readonly string[] | undefined;
  readonly source?: string | undefined;
  readonly dryRun: boolean;
  readonly saveOptions?: string | undefined;
  /** All that was said, by option. */
  readonly given: GivenOptions;
  readonly accepted: ReadonlySet<Acceptance>;
}

export interface ImportFilesOptions extends Omit<ImportFileOptions, "file"> {
  /** Paths; a dash is standard input. */
  readonly files: readonly string[];
}

/**
 * Records the sales of files, one after another, each in a transaction of its own: one that is refused does not keep the others out. Ctrl-C
 * records nothing of the file that is being read.
 */
export async function importFiles(terminal: Terminal, { files, ...options }: ImportFilesOptions): Promise<Answer> {
  const [only = ""] = files;
  requestOf({ ...options, file: only });
  if (files.length > 1 && options.skipBad !== undefined) {
    throw new UsageFault(`--skip-bad ${options.skipBad}: is for one file; import those that have bad lines one by one`);
  }
  if (options.saveOptions !== undefined) await assertAbsent(options.saveOptions);
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  using interrupt = watchInterrupt();
  await using input = await openInput(files, interrupt);
  await using database = await connectDatabase({ config, verb: "import", logger, patient: true });
  await assertSchemaCompatible(database);
  await assertSchemaCompatible(database, salesSchema);
  const importOne = async (file: string): Promise<Answer> =>
    importFile(terminal, { database, signal: interrupt.signal, options: { ...options, file: input.pathOf(file) } });
  const answers: Answer[] = [];
  for (const file of files) {
    const imported = importOne(file);
    answers.push(await (files.length === 1 ? imported : imported.catch(async (error) => refused(error, file))));
    interrupt.signal.throwIfAborted();
  }
  const wasAny = answers.some(({ exitCode: code }) => code !== exitCode.fault);
  if (wasAny && options.saveOptions !== undefined) await saveOptions(options.saveOptions, lasting(options.given));
  const [first, ...others] = answers;
  if (first !== undefined && others.length === 0) return first;
  const worst = [exitCode.fault, exitCode.notInOrder].find((code) => answers.some((each) => each.exitCode === code));
  return {
    exitCode: worst ?? exitCode.inOrder,
    document: { files: answers.map(({ document }) => document) },
    text: answers.map(({ text }) => text).join("\n"),
  };
}

async function refused(error: unknown, file: string): Promise<Answer> {
  const { line, document } = await describeFailure(error, "import");
  return { exitCode: exitCode.fault, document: { file, ...document }, text: line };
}

interface OneFile {
  readonly database: Database;
  readonly signal: AbortSignal;
  readonly options: ImportFileOptions;
}

async function importFile(terminal: Terminal, { database, signal, options }: OneFile): Promise<Answer> {
  const progress = startProgress(terminal, { label: "kB read" });
  try {
    const onProgress = tellProgress(terminal, progress);
    const { given } = options;
    const result = await importSales(database, { ...requestOf(options), actor: actor(), given, signal, onProgress });
    progress.stop();
    for (const warning of warningsOf(result)) terminal.note(`${basename(options.file)}: ${warning}`);
    return answer({
      inOrder: result.skipped === 0 && hasSales(result),
      document: { file: options.file, dryRun: options.dryRun, ...result },
      text: resultText(options, result),
    });
  } catch (error) {
    progress.stop();
    signal.throwIfAborted();
    noteBadLines(terminal, error);
    throw error;
  }
}

/** The options in the words of packages/sales, contradictions refused. */
function requestOf(options: ImportFileOptions): ImportOptions {
  assertSaidOnce(options);
  const { file, create, decimalComma, decimalCommaColumn, delimiter, skipLines, only, except, encoding } = options;
  const { zoneColumn, currencyColumn, zone, cutoff, currency, skipBad, idColumn, source, dryRun, accepted } = options;
  return {
    file,
    restaurant: restaurantOf(options),
    date: dateOf(options),
    amount: amountOf(options),
    create: create !== false,
    decimalComma: decimalComma || (decimalCommaColumn ?? false),
    titleLines: skipLines,
    encoding,
    maxBadLines: badLinesShown,
    accept: accepted,
    dryRun,
    ...(idColumn !== undefined && { idColumns: idColumn }),
    ...(source !== undefined && { feed: source }),
    ...(delimiter !== undefined && { delimiter: delimiterFrom(delimiter) }),
    ...(only !== undefined && { only }),
    ...(except !== undefined && { except }),
    ...(zoneColumn !== undefined && { zoneColumn }),
    ...(currencyColumn !== undefined && { currencyColumn }),
    ...(zone !== undefined && { zone }),
    ...(cutoff !== undefined && { cutoff }),
    ...(currency !== undefined && { currency }),
    ...(skipBad !== undefined && { skipBad }),
  };
}

function restaurantOf({ restaurant, restaurantColumn }: ImportFileOptions): ImportOptions["restaurant"] {
  if (restaurant?.trim() === "") throw new UsageFault('--restaurant "": is empty; say the id of whose sales these are');
  if (restaurant !== undefined && restaurantColumn === undefined) return { id: restaurant };
  if (restaurant === undefined && restaurantColumn !== undefined) return { column: restaurantColumn };
  throw new UsageFault(
    "whose sales these are: say either --restaurant or --restaurant-column; see nightwriter import --help",
  );
}

function assertSaidOnce(options: ImportFileOptions): void {
  const { zone, zoneColumn, currency, currencyColumn, decimalComma, decimalCommaColumn } = options;
  if (zone !== undefined && zoneColumn !== undefined) throw new UsageFault("say either --zone or --zone-column");
  if (currency !== undefined && currencyColumn !== undefined) {
    throw new UsageFault("say either --currency or --currency-column");
  }
  if (decimalComma && decimalCommaColumn !== undefined) {
    throw new UsageFault("say either --decimal-comma, for all columns, or --decimal-comma-column for some");
  }
}

function dateOf({ dateColumn, timeColumn, dateFormat, date }: ImportFileOptions): ImportOptions["date"] {
  if (date === undefined) {
    const column = { column: dateColumn ?? "date", format: dateFormat ?? "yyyy-MM-dd HH:mm" };
    return timeColumn === undefined ? column : { ...column, timeColumn };
  }
  if (dateColumn === undefined && timeColumn === undefined && dateFormat === undefined) return { on: date };
  throw new UsageFault("when it was sold: say either --date for all lines, or the columns that say it");
}

function amountOf({ amountColumn, quantityColumn, priceColumn }: ImportFileOptions): ImportOptions["amount"] {
  if (quantityColumn === undefined && priceColumn === undefined) return { column: amountColumn ?? "amount" };
  if (amountColumn === undefined && quantityColumn !== undefined && priceColumn !== undefined) {
    return { quantityColumn, priceColumn };
  }
  throw new UsageFault("how much was sold: say either --amount-column, or both --quantity-column and --price-column");
}

/** While another import is at work nothing is read: that is said once, instead of "0 kB". */
function tellProgress(terminal: Terminal, progress: Progress): (now: ImportProgress) => void {
  let hasWaited = false;
  return ({ phase, bytesRead, bytesTotal }) => {
    if (phase !== "waiting") {
      progress.update(kilobytes(bytesRead), bytesTotal === undefined ? undefined : kilobytes(bytesTotal));
    } else if (!hasWaited) {
      hasWaited = true;
      terminal.note("waits for another import to end");
    }
  };
}

function kilobytes(bytes: number): number {
  return Math.round(bytes / 1_000);
}

async function assertAbsent(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined)) === undefined) return;
  throw new UsageFault(`--save-options ${path}: exists already; name another, or use it: --options ${path}`);
}

/** What holds for the next file too: not what was meant of this one, nor its date and its bad lines. */
function lasting(given: GivenOptions): GivenOptions {
  const ofThisFile = new Set([...Object.keys(acceptances), "date", "skip-bad"]);
  ofThisFile.delete("once-per-id");
  return Object.fromEntries(Object.entries(given).filter(([name]) => !ofThisFile.has(name)));
}

function warningsOf(result: ImportResult): readonly string[] {
  return result.outcome === "duplicate" ? [] : result.warnings;
}

function hasSales(result: ImportResult): boolean {
  if (result.outcome === "duplicate") return true;
  return result.lines + result.knownLines + result.corrected + result.takenBack > 0;
}

function resultText({ file, skipBad, dryRun }: ImportFileOptions, result: ImportResult): string {
  const name = basename(file);
  if (result.outcome === "duplicate") {
    const at = result.importedAt.toString({ smallestUnit: "second" });
    const before = `${name}: was imported before, on ${at} as ${result.name} (import ${result.id}); nothing was changed`;
    if (result.skipped === 0) return before;
    const left = `${plural(result.skipped, "bad line was", "bad lines were")} left out then`;
    return `${before}\n${left}, and written to ${result.skipFile ?? "a file"}; mend them in this file, and import it again`;
  }
  const { lines, knownLines, corrected, leftOut, takenBack, skipped, restaurantsCreated, sums, businessDates } = result;
  const [first] = businessDates;
  const last = businessDates.at(-1);
  const number = result.id === undefined ? "" : ` (import ${result.id})`;
  const texts = result.look === undefined ? [] : [`${lookText(result.look)}\n`];
  texts.push(
    hasSales(result)
      ? `${name}: ${plural(lines, "sale")} ${dryRun ? "would be recorded" : "recorded"}, ${formatSums(sums)}${number}`
      : `${name}: has no sale; nothing was recorded`,
  );
  if (knownLines > 0) texts.push(`${plural(knownLines, "line was", "lines were")} recorded before`);
  if (leftOut > 0) texts.push(`${plural(leftOut, "line was", "lines were")} left out by --only and --except`);
  if (takenBack > 0) texts.push(`${plural(takenBack, "sale was", "sales were")} taken back, being left out now`);
  if (corrected > 0) texts.push(`${plural(corrected, "sale was", "sales were")} corrected`);
  if (first !== undefined && last !== undefined) {
    texts.push(`${plural(businessDates.length, "business date")} from ${first.toString()} to ${last.toString()}`);
  }
  if (!result.endsLine)
    texts.push("the last line has no line end; if it was half of one, import the file again when it is whole");
  if (restaurantsCreated > 0)
    texts.push(`${plural(restaurantsCreated, "restaurant")} ${dryRun ? "would be recorded" : "recorded"}`);
  if (skipped > 0) {
    const fate = `${dryRun ? "would be " : ""}written to ${skipBad ?? ""}`;
    texts.push(`${plural(skipped, "bad line")} ${fate}:`, badLinesTable(result.badLines));
    if (skipped > result.badLines.length) texts.push(`and ${formatCount(skipped - result.badLines.length)} more`);
  }
  if (dryRun) texts.push("this was a dry run: nothing was recorded");
  return texts.join("\n");
}
