import { basename } from "node:path";
import { type OpenOptions, type OpenResult, openTotals } from "@nightwriter/restaurant-totals";
import { databaseNow } from "@nightwriter/schedule";
import type { Answer } from "../answer.ts";
import { badLinesShown, delimiterFrom, noteBadLines } from "../bad-lines.ts";
import { type Installation, openInstallation } from "../installation.ts";
import { carryOut } from "../nights/carry-out.ts";
import { formatDeltas } from "../nights/delta-by-currency.ts";
import { plural } from "../output/format.ts";
import type { Terminal } from "../terminal.ts";

export interface OpenFileOptions {
  readonly file: string;
  readonly wait: boolean;
  readonly job: string;
  readonly restaurantColumn: string;
  readonly totalColumn: string;
  readonly dateColumn?: string | undefined;
  readonly dateFormat: string;
  readonly delimiter?: string | undefined;
  readonly decimalComma: boolean;
  readonly encoding: "utf-8" | "latin-1";
  readonly date?: Temporal.PlainDate | undefined;
  readonly create: boolean;
  readonly zone?: string | undefined;
  readonly cutoff?: string | undefined;
  readonly currency?: string | undefined;
}

/** Records opening totals and puts them into the queue as first entries. */
export async function openFile(terminal: Terminal, options: OpenFileOptions): Promise<Answer> {
  await using installation = await openInstallation(terminal, {
    verb: "open",
    purpose: "plan",
    jobName: options.job,
    patient: true,
  });
  const result = await record(terminal, installation, options);
  const planned = result.outcome === "opened" ? result.restaurants : 0;
  const plan = async () => ({ run: { id: result.runId }, planned });
  const carried = await carryOut(terminal, installation, { plans: [plan], wait: options.wait });
  return {
    exitCode: carried.exitCode,
    document: { file: options.file, ...result, carriedOut: carried.document },
    text: `${basename(options.file)}: ${resultText(result)}\n${carried.text}`,
  };
}

async function record(
  terminal: Terminal,
  { database, job }: Installation,
  { file, wait: _wait, job: _job, dateColumn, date, zone, cutoff, currency, delimiter, ...options }: OpenFileOptions,
): Promise<OpenResult> {
  const request: OpenOptions = {
    ...options,
    file,
    ...(delimiter !== undefined && { delimiter: delimiterFrom(delimiter) }),
    maxBadLines: badLinesShown,
    now: await databaseNow(database),
    ...(dateColumn !== undefined && { dateColumn }),
    ...(date !== undefined && { date }),
    ...(zone !== undefined && { zone }),
    ...(cutoff !== undefined && { cutoff }),
    ...(currency !== undefined && { currency }),
  };
  try {
    return await openTotals(database, job, request);
  } catch (error) {
    noteBadLines(terminal, error);
    throw error;
  }
}

function resultText(result: OpenResult): string {
  if (result.outcome === "duplicate") return "was opened before; nothing was changed";
  const created =
    result.restaurantsCreated === 0 ? "" : `, ${plural(result.restaurantsCreated, "of them new", "of them new")}`;
  const sums = formatDeltas(Object.fromEntries(result.sums));
  return `${plural(result.restaurants, "restaurant")} opened${created}, ${sums}`;
}
