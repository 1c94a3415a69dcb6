/**
 * Records the sales of a file: all of its new lines or, if one of them is bad, nothing.
 *
 * One transaction holds everything: new restaurants, sales, and the note that this content was imported. Whatever ends
 * it early, a bad line, a lost connection, SIGKILL, leaves the database as it was, and the same call can be made again.
 */
import { type Database, type Session, SqlFault } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { delimiterOf, iconvNames } from "../read/csv-file.ts";
import { compileDateFormat, type DateFormat } from "../read/date-format.ts";
import { checkRestaurantOptions } from "../restaurants/restaurant-store.ts";
import { BadLines } from "./bad-lines.ts";
import { currentEpoch } from "./epoch.ts";
import type { ImportOptions, ImportProgress, ImportResult } from "./import-options.ts";
import { findKnownContent } from "./known-content.ts";
import type { KnownImport } from "./known-imports.ts";
import { loadLines } from "./load-lines.ts";
import { readingOf } from "./reading.ts";
import { type Recording, recordLines, sumRecorded } from "./record-lines.ts";
import { rememberNeeds } from "./record-staged.ts";
import { findRecordedDates } from "./recorded-dates.ts";
import { rememberImport, reserveImport } from "./remember-import.ts";
import { SaleRows } from "./sale-rows.ts";
import { SkipFile } from "./skip-file.ts";
import { createStaging } from "./staging.ts";
import { inTurn } from "./turn.ts";

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
  const { file, restaurant, signal, feed = "", idColumns = [], accept = new Set<Acceptance>() } = options;
  const reading = readingOf(options);
  const content = await findKnownContent(session, {
    file,
    scope: { restaurantId: "id" in restaurant ? restaurant.id : null, feed },
    reading,
    hasIds: idColumns.length > 0,
    signal,
    accepted: accept,
    onRead: report.comparing,
  });
  const { known, same, print } = content;
  if (same !== undefined) return duplicate(same);
  const { bad } = plan;
  await bad.prepare();
  const reserved = await reserveImport(session);
  const isStaged = idColumns.length > 0 || accept.has("only-new") || known?.half !== undefined;
  const recording: Recording = {
    ...reserved,
    options,
    reading,
    content,
    epoch: await currentEpoch(session),
    isStaged,
  };
  const datesBefore = await findRecordedDates(session);
  if (isStaged) await createStaging(session);
  const rows = new SaleRows(options, { ...recording, format: plan.format });
  const load = {
    file: options,
    print,
    restaurant,
    restaurants: options,
    bad,
    known,
    onProgress: report.recording(print.byteCount),
  };
  const loaded = await loadLines(database, session, { load, target: rows });
  await bad.settle(file);
  const counts = await recordLines(session, recording, { lines: loaded.lines, rows, datesBefore });
  const { sums, businessDates } = isStaged ? await sumRecorded(session, recording) : rows;
  // A content of which nothing was recorded is not remembered: any file with this header would be its growth, and one whose lines are all
  // bad was read in a wrong way, and is to be read in the right one.
  if (loaded.lines > 0 || known !== undefined) {
    const kept = { kept: loaded.lines, skipped: bad.count, badLines: bad.lines, newest: rows.newest };
    const recorded = { ...counts, ...kept, sums, businessDates };
    await rememberImport(session, database, { options, content, reading, reserved, recorded });
    if (isStaged) await rememberNeeds(session, reserved.id);
  }
  return {
    outcome: "imported",
    source: reserved.source,
    restaurantsCreated: loaded.restaurantsCreated,
    lines: counts.added,
    knownLines: loaded.known + counts.known,
    corrected: counts.corrected,
    adopted: counts.adopted,
    repeated: counts.repeated,
    skipped: bad.count,
    badLines: bad.first,
    endsLine: print.endsLine,
    sums,
    businessDates,
  };
}

function duplicate({ id, source, name, importedAt, skipped, skipFile }: KnownImport): ImportResult {
  return {
    outcome: "duplicate",
    id,
    source,
    name,
    importedAt: Temporal.Instant.fromEpochMilliseconds(importedAt.getTime()),
    skipped: Number(skipped),
    ...(skipFile !== null && { skipFile }),
  };
}
