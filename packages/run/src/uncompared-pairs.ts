/**
 * Which pairs a plan cannot look at, when its statement was refused: one key's data must not stop the plan of the others.
 *
 * Looking is what fails: the sum of a pair, or reading its rows at all. So the same look is asked about half of the keys, and
 * of a key that fails about half of the dates, until what fails is one pair. Nothing is decided from what these looks see: they
 * have snapshots of their own, and a sale may come after them. The plan's one statement looks again at all other pairs, and
 * takes the ones that were found as they are. They are planned uncompared, whatever they amount to; their write parks
 * them and says why. A plan parks nothing.
 *
 * All of it under the planning lock, so for a bounded time.
 */
import { type SqlFault, sqlFault } from "@nightwriter/database";
import { sql } from "kysely";
import { keysOnDate, openBefore, type Pairs, touchedBefore } from "./candidate-pairs.ts";
import type { Planning } from "./planning.ts";
import type { DateRange, Pair, PlanBase } from "./touched-pairs.ts";

/** A pair whose comparison the server refused. */
export interface UncomparedPair extends Pair {
  readonly fault: SqlFault;
}

/** What a plan looks at. */
interface LookedAt {
  readonly businessDate: string;
  /** Default: all. */
  readonly keys?: readonly string[] | undefined;
  /** Absent: nothing before the date. */
  readonly touched?: { readonly base: PlanBase | undefined } | undefined;
}

/** How long looks may go on, in all. */
const limitMs = 20_000;
/** No source has a row of an earlier date. */
const firstDate = "1900-01-01";

/** Whether the server refused the statement for what it read, or broke it off for its time: a look at less may pass. */
export function isRefused({ sqlstate, retryable }: SqlFault): boolean {
  return sqlstate !== undefined && (!retryable || sqlstate === "57014");
}

/** Runs `work` so that what it has done is undone if it fails, and the transaction goes on. Throws SqlFault. */
export async function withSavepoint<Result>(
  { db }: Pick<Planning, "db">,
  work: () => Promise<Result>,
): Promise<Result> {
  await sql`savepoint plan`.execute(db);
  try {
    const result = await work();
    await sql`release savepoint plan`.execute(db);
    return result;
  } catch (error) {
    const fault = sqlFault(error);
    if (fault.code !== "lost") await sql`rollback to savepoint plan`.execute(db);
    throw fault;
  }
}

/**
 * The pairs of the date, and of touched dates before it, that cannot be looked at. None: it is not the pairs that the plan failed
 * at, or time was up. Throws SqlFault that is weather.
 */
export async function findUncompared(
  frame: Planning,
  { businessDate, keys: asked, touched: before }: LookedAt,
): Promise<UncomparedPair[]> {
  const untilMs = performance.now() + limitMs;
  await sql`savepoint looks`.execute(frame.db);
  const look = async (pairs: Pairs | undefined): Promise<SqlFault | undefined> => lookAt(frame, pairs, untilMs);
  const keys = asked ?? (await allKeys(frame, { businessDate, touched: before }));
  const night = await failing(keys, async (some) => look(keysOnDate(frame, { businessDate, keys: some })), untilMs);
  const earlier =
    before === undefined
      ? []
      : await earlierFailing(frame, { businessDate, keys, base: before.base }, { look, untilMs });
  // Back to the time limit of before.
  await sql`rollback to savepoint looks`.execute(frame.db);
  await sql`release savepoint looks`.execute(frame.db);
  return [...night.map(({ item, fault }) => ({ key: item, business_date: businessDate, fault })), ...earlier];
}

type Look = (pairs: Pairs | undefined) => Promise<SqlFault | undefined>;

async function earlierFailing(
  frame: Planning,
  { businessDate, keys, base }: { businessDate: string; keys: readonly string[]; base: PlanBase | undefined },
  { look, untilMs }: { look: Look; untilMs: number },
): Promise<UncomparedPair[]> {
  const touched = (some: readonly string[], dates: DateRange): Pairs | undefined =>
    touchedBefore(frame, { businessDate, base, compare: true, keys: some, dates });
  const range = openBefore(frame, businessDate);
  const earlier: UncomparedPair[] = [];
  for (const { item: key } of await failing(keys, async (some) => look(touched(some, range)), untilMs)) {
    for (const dates of recentApart(datesOf(range))) {
      const found = await failing(dates, async (some) => look(touched([key], around(some))), untilMs);
      earlier.push(...found.map(({ item, fault }) => ({ key, business_date: item, fault })));
    }
  }
  return earlier;
}

/** The job's keys, those that have a total, and those that have touched rows without being any of these, as far as that can be read. */
async function allKeys(frame: Planning, { businessDate, touched }: LookedAt): Promise<string[]> {
  const { db, job } = frame;
  const own = await db
    .selectFrom(job.definition.keys(db).as("it"))
    .select("it.key")
    .union(db.selectFrom("nightwriter.key_total").select("key").where("job_id", "=", job.id))
    .execute();
  const keys = new Set(own.map(({ key }) => key));
  const pairs = touched && touchedBefore(frame, { businessDate, base: touched.base, compare: false });
  if (pairs !== undefined) for (const key of await keysOf(frame, pairs)) keys.add(key);
  return [...keys].toSorted();
}

async function keysOf({ db }: Planning, pairs: Pairs): Promise<string[]> {
  try {
    const { rows } = await sql<{ key: string }>`select distinct key from (${pairs}) as touched`.execute(db);
    return rows.map(({ key }) => key);
  } catch (error) {
    const fault = sqlFault(error);
    if (!isRefused(fault)) throw fault;
    await sql`rollback to savepoint looks`.execute(db);
    return [];
  }
}

async function lookAt(frame: Planning, pairs: Pairs | undefined, untilMs: number): Promise<SqlFault | undefined> {
  if (pairs === undefined) return undefined;
  try {
    const leftMs = Math.max(1, Math.ceil(untilMs - performance.now()));
    await sql`select set_config('statement_timeout', ${`${leftMs}ms`}, true)`.execute(frame.db);
    await sql`select count(*) from (${pairs}) as looked`.execute(frame.db);
    return undefined;
  } catch (error) {
    const fault = sqlFault(error);
    if (!isRefused(fault)) throw fault;
    await sql`rollback to savepoint looks`.execute(frame.db);
    return fault;
  }
}

/** Each that fails by itself, by halving. When time is up, what has not been told apart is left out. */
async function failing(
  items: readonly string[],
  look: (some: readonly string[]) => Promise<SqlFault | undefined>,
  untilMs: number,
): Promise<{ item: string; fault: SqlFault }[]> {
  if (items.length === 0 || performance.now() > untilMs) return [];
  const fault = await look(items);
  if (fault === undefined) return [];
  const [only] = items;
  if (only !== undefined && items.length === 1) return [{ item: only, fault }];
  const half = Math.ceil(items.length / 2);
  const first = await failing(items.slice(0, half), look, untilMs);
  return [...first, ...(await failing(items.slice(half), look, untilMs))];
}

/** Every date of the range, in order. */
function datesOf({ after, before }: DateRange): string[] {
  const first =
    after === undefined ? Temporal.PlainDate.from(firstDate) : Temporal.PlainDate.from(after).add({ days: 1 });
  const end = Temporal.PlainDate.from(before ?? firstDate);
  const dates: string[] = [];
  for (let date = first; Temporal.PlainDate.compare(date, end) < 0; date = date.add({ days: 1 }))
    dates.push(date.toString());
  return dates;
}

/** Most of what comes late is of the last days: they are found in few looks, however far back the range reaches. */
function recentApart(dates: readonly string[]): readonly (readonly string[])[] {
  return [dates.slice(0, -400), dates.slice(-400, -30), dates.slice(-30)];
}

/** The range of consecutive dates. */
function around(dates: readonly string[]): DateRange {
  const [first = firstDate] = dates;
  const last = dates.at(-1) ?? first;
  return {
    after: Temporal.PlainDate.from(first).subtract({ days: 1 }).toString(),
    before: Temporal.PlainDate.from(last).add({ days: 1 }).toString(),
  };
}
