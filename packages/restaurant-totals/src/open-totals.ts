/**
 * Opening totals: what a restaurant's total starts with, before the first sale that is recorded here.
 *
 * An opening is a source row like any other, on a business date before the restaurant's first sale, and an item of a run of
 * its own. The guarded write then applies it as it applies everything; its delta is the opening total exactly, because no sale
 * exists on that date.
 */
import type { Database, Session } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { planningLock } from "@nightwriter/run";
import {
  BadLines,
  type FileOptions,
  fingerprintFile,
  ImportFault,
  inTurn,
  loadLines,
  type RestaurantOptions,
} from "@nightwriter/sales";
import { OpeningRows } from "./opening-rows.ts";
import {
  dateOpenings,
  findOpeningRun,
  type MisplacedOpening,
  misplacedOpenings,
  recordOpenings,
  stageOpenings,
  sumOpenings,
} from "./opening-store.ts";

export interface OpenOptions extends FileOptions, RestaurantOptions {
  /** Default: restaurant. */
  readonly restaurantColumn?: string;
  /** Default: total. */
  readonly totalColumn?: string;
  /** Default: date, if the file has such a column. An empty field is a date that is not said. */
  readonly dateColumn?: string;
  /** Unicode tokens. Default: yyyy-MM-dd. */
  readonly dateFormat?: string;
  /** For lines that do not say theirs. Default: the day before the first sale, or before the current business date if there is none. */
  readonly date?: Temporal.PlainDate;
  /** How many bad lines are told one by one. Default: 100; all are counted. */
  readonly maxBadLines?: number;
  /** The database's, as all that is due goes by it: the current business date of a restaurant without sales. */
  readonly now: Temporal.Instant;
}

export type OpenResult =
  | {
      readonly outcome: "opened";
      /** Of kind `opening`; its items are due. */
      readonly runId: bigint;
      /** The latest of its items' dates. */
      readonly businessDate: Temporal.PlainDate;
      readonly restaurants: number;
      readonly restaurantsCreated: number;
      /** In minor units, by currency. */
      readonly sums: ReadonlyMap<string, bigint>;
    }
  /** This content was opened before, by this run; nothing was changed. */
  | { readonly outcome: "duplicate"; readonly runId: bigint; readonly businessDate: Temporal.PlainDate };

/**
 * After it returns, each line of the file is the opening total of its restaurant, and one run has an item for each; whoever
 * calls it enqueues that run's items, or applies them. All lines or, with ImportFault, none: a line is bad when its
 * restaurant has an opening total, a ledger entry, or a sale on or before the date, or when the date is closed.
 *
 * The file's content is the identity: the same one twice answers the same run. Throws ImportFault and SqlFault.
 */
export async function openTotals(database: Database, job: Job, options: OpenOptions): Promise<OpenResult> {
  const rows = new OpeningRows(options);
  const { maxBadLines: limit = 100 } = options;
  const print = await fingerprintFile(options);
  const requestId = `opening:${print.contentHash}`;
  return inTurn(database, async (session) => {
    // Under the job's lock as well: who plans meanwhile would count partitions, and items, without these.
    await session.run(planningLock(job.id).compile(database.db));
    const found = await findOpeningRun(session, { job, requestId });
    if (found !== undefined) return { outcome: "duplicate", ...dated(found) };
    const bad = new BadLines(limit);
    await stageOpenings(session);
    const restaurant = { column: options.restaurantColumn ?? "restaurant" };
    const load = { file: options, print, restaurant, restaurants: options, bad };
    const loaded = await loadLines(database, session, { load, target: rows });
    if (bad.count === 0) await placeOpenings(session, { job, options, bad, limit });
    await bad.settle(options.file);
    if (loaded.lines === 0) {
      throw new ImportFault("file_empty", `${options.file}: has no lines but its header`, {
        details: { file: options.file },
      });
    }
    const sums = await sumOpenings(session);
    const run = dated(await recordOpenings(session, { job, requestId }));
    const { lines: restaurants, restaurantsCreated } = loaded;
    return { outcome: "opened", ...run, restaurants, restaurantsCreated, sums };
  });
}

function dated({ runId, businessDate }: { runId: bigint; businessDate: string }): {
  runId: bigint;
  businessDate: Temporal.PlainDate;
} {
  return { runId, businessDate: Temporal.PlainDate.from(businessDate) };
}

type Placing = { readonly job: Job; readonly options: OpenOptions; readonly bad: BadLines; readonly limit: number };

/** Gives each line its date, and notes those that cannot be opened on it. */
async function placeOpenings(session: Session, { job, options, bad, limit }: Placing): Promise<void> {
  await dateOpenings(session, { job, date: options.date, now: options.now });
  const misplaced = await misplacedOpenings(session, { job, limit });
  for (const each of misplaced) bad.add({ line: Number(each.line), column: undefined, reason: reasonOf(each) }, "");
  bad.addUntold(Number(misplaced[0]?.count ?? 0n) - misplaced.length);
}

function reasonOf(opening: MisplacedOpening): string {
  const restaurant = `restaurant ${opening.key}`;
  if (opening.same_as_line !== null) return `${restaurant} stands in line ${opening.same_as_line} already`;
  if (opening.opened_on !== null) return `${restaurant} was opened on ${opening.opened_on}`;
  if (opening.has_entries) return `${restaurant} has ledger entries already; correct its total with a sale`;
  if (opening.first_sale !== null) {
    return `${restaurant} has sales since ${opening.first_sale}, and ${opening.business_date} is not before that`;
  }
  if (opening.taken_by_run !== null) {
    return `${restaurant} has an item of ${opening.business_date} in run ${opening.taken_by_run}, which would take the opening total as its own; open it on an earlier date`;
  }
  return `${opening.business_date} is closed, as is every date up to ${opening.closed_through}`;
}
