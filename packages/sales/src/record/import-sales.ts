/**
 * Records the sales of a file: all of its new lines or, if one of them is bad, nothing.
 *
 * One transaction holds everything: new restaurants, sales, and the note that this content was imported. Whatever ends
 * it early, a bad line, a lost connection, SIGKILL, leaves the database as it was, and the same call can be made again.
 */
import { type Database, type Session, SqlFault } from "@nightwriter/database";
import type { Acceptance } from "../doubt.ts";
import type { BadLine } from "../import-fault.ts";
import type { AmountColumns } from "../read/amount.ts";
import { delimiterOf, type FileOptions, iconvNames } from "../read/csv-file.ts";
import { compileDateFormat, type DateFormat } from "../read/date-format.ts";
import { checkRestaurantOptions, type RestaurantOptions } from "../restaurants/restaurant-store.ts";
import { BadLines } from "./bad-lines.ts";
import { currentEpoch } from "./epoch.ts";
import { findKnownContent, rememberContent, reserveImport } from "./known-content.ts";
import { loadLines, type RestaurantChoice } from "./load-lines.ts";
import { SaleRows } from "./sale-rows.ts";
import { SkipFile } from "./skip-file.ts";
import { inTurn } from "./turn.ts";

export interface ImportOptions extends FileOptions, RestaurantOptions {
  readonly restaurant: RestaurantChoice;
  readonly date: { readonly column: string /** Unicode tokens: dd/MM/yyyy HH:mm. */; readonly format: string };
  readonly amount: AmountColumns;
  /** Records the good lines and writes the bad ones to this path, which must not exist. Default: one bad line refuses the file. */
  readonly skipBad?: string;
  /** What is meant, of what would be refused because it is in doubt. Default: nothing. */
  readonly accept?: ReadonlySet<Acceptance>;
  /** How many bad lines are told one by one. Default: 100; all are counted. */
  readonly maxBadLines?: number;
  /** Called for every 64 KiB or so. */
  readonly onProgress?: (progress: ImportProgress) => void;
}

export interface ImportProgress {
  /** `waiting`: another import is at work. `comparing`: finds out what is known of the file. `recording`: the rest. */
  readonly phase: "waiting" | "comparing" | "recording";
  readonly bytesRead: number;
  /** Undefined until it is known. */
  readonly bytesTotal: number | undefined;
  /** Lines of the file that were read while recording. */
  readonly lines: number;
}

export type ImportResult =
  | {
      readonly outcome: "imported";
      /** What `sales.sale.source` says of these lines. */
      readonly source: string;
      /** Sales recorded now. */
      readonly lines: number;
      /** Lines of the file that had been imported before: it grew. */
      readonly knownLines: number;
      /** Bad lines, written to the file named by `skipBad`. */
      readonly skipped: number;
      /** The first of them. */
      readonly badLines: readonly BadLine[];
      readonly restaurantsCreated: number;
      /** What was recorded now, in minor units by currency. */
      readonly sums: ReadonlyMap<string, bigint>;
      /** The business dates of what was recorded now, in order. */
      readonly businessDates: readonly Temporal.PlainDate[];
    }
  | {
      /** This content was imported for this restaurant before; nothing was changed. */
      readonly outcome: "duplicate";
      readonly source: string;
      /** The name the file had then, and when that was. */
      readonly name: string;
      readonly importedAt: Temporal.Instant;
    };

/**
 * After it returns, every good line of the file is recorded exactly once, however often and by however many processes it is
 * called. Throws ImportFault (nothing was recorded) or SqlFault (with `lost`, call it again: it finds out).
 */
export async function importSales(database: Database, options: ImportOptions): Promise<ImportResult> {
  const plan = planImport(options);
  const report = reporter(options);
  try {
    return await inTurn(
      database,
      (session) => importInTurn(database, session, { options, plan, report }),
      report.waiting,
    );
  } catch (error) {
    // If the commit's answer was lost, the good lines may be recorded, and the bad ones must stay too.
    if (!(error instanceof SqlFault && error.code === "lost")) await plan.bad.discard();
    throw error;
  }
}

type Plan = { readonly format: DateFormat; readonly bad: BadLines };

/** Checks what can be checked without the file and the database. */
function planImport(options: ImportOptions): Plan {
  const { date, skipBad, encoding = "utf-8", maxBadLines = 100 } = options;
  checkRestaurantOptions(options);
  const style = { delimiter: delimiterOf(options), encoding: iconvNames[encoding] };
  const skipFile = skipBad === undefined ? undefined : new SkipFile(skipBad, style);
  return { format: compileDateFormat(date.format), bad: new BadLines(maxBadLines, skipFile) };
}

type Report = ReturnType<typeof reporter>;

function reporter({ onProgress = () => {} }: ImportOptions) {
  let bytesRead = 0;
  let lines = 0;
  const tell = (phase: ImportProgress["phase"], bytesTotal?: number): void =>
    onProgress({ phase, bytesRead, bytesTotal, lines });
  return {
    waiting: (): void => tell("waiting"),
    comparing: (bytes: number): void => {
      bytesRead += bytes;
      tell("comparing");
    },
    recording: (bytesTotal: number) => {
      bytesRead = 0;
      return (bytes: number, lastLine: number): void => {
        bytesRead += bytes;
        lines = Math.max(lines, lastLine);
        tell("recording", bytesTotal);
      };
    },
  };
}

type Work = { readonly options: ImportOptions; readonly plan: Plan; readonly report: Report };

async function importInTurn(
  database: Database,
  session: Session,
  { options, plan, report }: Work,
): Promise<ImportResult> {
  const { file, restaurant, signal, accept = new Set<Acceptance>() } = options;
  const content = await findKnownContent(session, database, {
    file,
    restaurantId: "id" in restaurant ? restaurant.id : null,
    signal,
    accepted: accept,
    onRead: report.comparing,
  });
  const { known, print } = content;
  if (known !== undefined && known.contentHash === print.contentHash) {
    const importedAt = Temporal.Instant.fromEpochMilliseconds(known.importedAt.getTime());
    return { outcome: "duplicate", source: known.source, name: known.name, importedAt };
  }
  const { bad } = plan;
  await bad.prepare();
  const reserved = await reserveImport(session, known);
  const { source } = reserved;
  const rows = new SaleRows(options, { source, epoch: await currentEpoch(session), format: plan.format });
  const knownLines = Number(known?.lineCount ?? 0n);
  const onProgress = report.recording(print.byteCount);
  const load = {
    file: options,
    print,
    restaurant,
    restaurants: options,
    bad,
    knownLines,
    onProgress,
  };
  const loaded = await loadLines(database, session, { load, target: rows });
  await bad.settle(file);
  // A content of which nothing was recorded is not remembered: any file with this header would be its growth, and one whose lines are all
  // bad was read in a wrong way, and is to be read in the right one.
  if (loaded.lines > 0 || known !== undefined) {
    const { sums, newest, businessDates } = rows;
    const recorded = { sums, newest, businessDates, lines: loaded.lines, skipped: bad.count };
    await rememberContent(session, database, { file, content, reserved, recorded });
  }
  const { sums, businessDates } = rows;
  return {
    outcome: "imported",
    source,
    ...loaded,
    knownLines,
    skipped: bad.count,
    badLines: bad.first,
    sums,
    businessDates,
  };
}
