/**
 * Records the sales of a file: all of its new lines or, if one of them is bad, nothing.
 *
 * One transaction holds everything: new restaurants, sales, and the note that this content was imported. Whatever ends
 * it early, a bad line, a lost connection, SIGKILL, leaves the database as it was, and the same call can be made again.
 */
import { type Database, type Session, SqlFault } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { name } from "../read/content.ts";
import { checkDelimiter, iconvNames } from "../read/csv-file.ts";
import type { DateFormat } from "../read/date-format.ts";
import { RowFilter } from "../read/row-filter.ts";
import { compileSaleDate, type SaleDate } from "../read/sale-date.ts";
import { checkRestaurantOptions } from "../restaurants/restaurant-store.ts";
import { findToday, type SuspicionOptions, Suspicions } from "../suspicions/suspicions.ts";
import { BadLines } from "./bad-lines.ts";
import { currentEpoch } from "./epoch.ts";
import type { ImportOptions, ImportProgress, ImportResult } from "./import-options.ts";
import { findKnownContent } from "./known-content.ts";
import type { KnownImport } from "./known-imports.ts";
import { loadLines } from "./load-lines.ts";
import { lookAt } from "./look.ts";
import { readingOf } from "./reading.ts";
import { type Recording, recordLines, sumRecorded } from "./record-lines.ts";
import { rememberNeeds } from "./record-staged.ts";
import { findRecordedDates } from "./recorded-dates.ts";
import { rememberImport, reserveImport } from "./remember-import.ts";
import { SaleRows } from "./sale-rows.ts";
import { assertSeen } from "./seen-values.ts";
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
    return await inTurn(database, (session) => importInTurn(database, session, { options, plan, report }), {
      onWait: report.waiting,
      ...(options.dryRun === true && { dryRun: true }),
    });
  } catch (error) {
    // If the commit's answer was lost, the good lines may be recorded, and the bad ones must stay too.
    if (!(error instanceof SqlFault && error.code === "lost")) await plan.bad.discard();
    throw error;
  }
}

type Plan = { readonly date: SaleDate; readonly bad: BadLines };

/** Checks what can be checked without the file and the database. */
function planImport(options: ImportOptions): Plan {
  const { date, skipBad, encoding = "utf-8", maxBadLines = 100, dryRun = false } = options;
  checkRestaurantOptions(options);
  checkDelimiter(options);
  const skipFile =
    skipBad === undefined ? undefined : new SkipFile(skipBad, { encoding: iconvNames[encoding], dryRun });
  return { date: compileSaleDate(date), bad: new BadLines(maxBadLines, skipFile) };
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
  const { file, titleLines = 0, restaurant, signal, feed = "", idColumns = [], accept = nothingAccepted } = options;
  const reading = readingOf(options);
  const content = await findKnownContent(session, {
    file,
    titleLines,
    scope: { restaurantId: "id" in restaurant ? restaurant.id : null, feed },
    reading,
    hasIds: idColumns.length > 0,
    signal,
    accepted: accept,
    onRead: report.comparing,
  });
  if (content.same !== undefined) return duplicate(content.same);
  await plan.bad.prepare();
  const reserved = await reserveImport(session, { dryRun: options.dryRun ?? false });
  const isStaged = idColumns.length > 0 || accept.has("only-new") || content.known?.half !== undefined;
  const epoch = await currentEpoch(session);
  return record(database, session, {
    options,
    plan,
    report,
    recording: { ...reserved, options, reading, content, epoch, isStaged },
  });
}

const nothingAccepted: ReadonlySet<Acceptance> = new Set();

/** Reads the file for the second time, and records it. */
async function record(
  database: Database,
  session: Session,
  { options, plan: { bad, date }, report, recording }: Work & { readonly recording: Recording },
): Promise<ImportResult> {
  const { file, restaurant, accept = nothingAccepted, dryRun = false } = options;
  const { id, source, content, reading, isStaged } = recording;
  const { known, print, scope } = content;
  const datesBefore = await findRecordedDates(session);
  if (isStaged) await createStaging(session);
  const suspicions = new Suspicions(await suspicionOptions(session, recording, date.format));
  const rows = new SaleRows(options, { ...recording, date, suspicions });
  const filter = new RowFilter(options);
  const onProgress = report.recording(print.byteCount);
  const load = {
    file: options,
    print,
    restaurant,
    restaurants: options,
    bad,
    filter,
    known,
    unused: suspicions.columns,
    onProgress,
  };
  const loaded = await loadLines(database, session, { load, target: rows });
  const { lines, leftOut } = loaded;
  await bad.settle(file);
  loaded.lostQuotes?.assertNone(name(file), accept);
  await assertSeen(session, { name: name(file), filter, scope, accepted: accept });
  const { restaurantsCreated } = loaded;
  const warnings = await suspicions.settle(session, { rows, restaurantsCreated, datesBefore });
  const counts = await recordLines(session, recording, { lines, leftOut, rows, datesBefore });
  const { sums, businessDates } = isStaged ? await sumRecorded(session, recording) : rows;
  // A content of which nothing was recorded is not remembered: any file with this header would be its growth, and one whose lines are all
  // bad was read in a wrong way, and is to be read in the right one.
  const isRemembered = lines > 0 || known !== undefined;
  if (isRemembered) {
    const kept = {
      kept: lines,
      leftOut,
      seen: filter.seen,
      skipped: bad.count,
      badLines: bad.lines,
      newest: rows.newest,
    };
    const recorded = { ...counts, ...kept, sums, businessDates };
    await rememberImport(session, database, { options, content, reading, reserved: { id, source }, recorded });
    if (isStaged) await rememberNeeds(session, id);
  }
  const { added, known: again, ...others } = counts;
  return {
    ...others,
    outcome: "imported",
    id: isRemembered && !dryRun ? id : undefined,
    source,
    restaurantsCreated,
    lines: added,
    knownLines: loaded.known + again,
    leftOut,
    skipped: bad.count,
    badLines: bad.first,
    endsLine: print.endsLine,
    sums,
    businessDates,
    warnings,
    look: dryRun ? await lookAt(session, { options, source, businessDates, loaded, first: rows.first }) : undefined,
  };
}

async function suspicionOptions(
  session: Session,
  { options, content }: Recording,
  format: DateFormat,
): Promise<SuspicionOptions> {
  const { file, restaurant, feed = "", idColumns = [], accept = nothingAccepted } = options;
  return {
    name: name(file),
    accepted: accept,
    hasIds: idColumns.length > 0,
    format,
    isDated: "on" in options.date,
    restaurantColumn: "column" in restaurant ? restaurant.column : undefined,
    restaurantId: content.scope.restaurantId,
    feed,
    today: await findToday(session),
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
