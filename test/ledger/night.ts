/** A night to write: restaurants with sales, a planned run, and the ways to write it, one of them wrong on purpose. */
import { invariant, silentLogger } from "@nightwriter/core";
import type { Session } from "@nightwriter/database";
import { type Job, registerJob } from "@nightwriter/job";
import {
  type Applied,
  applyItems,
  guardedWrite,
  type Item,
  type ItemOutcome,
  type ParkAnswer,
  parkItems,
  type WrittenRow,
} from "@nightwriter/ledger";
import { readTerms, type Term } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import {
  makeRestaurants,
  type PostgresVersion,
  recordSales,
  type TestDatabase,
  testDatabase,
} from "@nightwriter/testkit";
import { sql } from "kysely";

export const date = "2026-03-01";

export interface Night extends AsyncDisposable {
  readonly test: TestDatabase;
  readonly job: Job;
  /** All keys are written under this term: the tests here are about one partition. */
  readonly term: Term;
  readonly keys: readonly string[];
}

/**
 * Restaurants `r0001`…, each with one sale of 120 on {@link date}, and a total of 1,000 that another date has brought; after so
 * many earlier nights, of which the statistics know: with some runs before it the server plans the write in another way.
 */
export async function openNight(server: PostgresVersion, count = 1, earlierNights = 0): Promise<Night> {
  const test = await testDatabase({ server, max: 8 });
  const job = await registerJob(test.database, { ...restaurantTotals, partitionCount: 1 });
  const [term] = await readTerms(test.database, job);
  invariant(term !== undefined, "the job has one partition");
  const keys = await makeRestaurants(test.db, count);
  const night: Night = { test, job, term, keys, [Symbol.asyncDispose]: () => test[Symbol.asyncDispose]() };
  await test.db
    .insertInto("nightwriter.key_total")
    .values(keys.map((key) => ({ job_id: job.id, key })))
    .execute();
  await sql`insert into nightwriter.run (job_id, business_date, kind, planned_at, finished_at)
    select ${job.id}, date '2026-02-01' - night, 'nightly', now(), now()
    from generate_series(1, ${earlierNights}::integer) as night`.execute(test.db);
  const before = "2026-02-28";
  await recordSales(
    test.db,
    keys.map((restaurant) => ({ restaurant, businessDate: before, amountMinor: 1_000 })),
  );
  await apply(night, await plan(night, { request: "before", businessDate: before }));
  await recordSales(
    test.db,
    keys.map((restaurant) => ({ restaurant, businessDate: date, amountMinor: 120 })),
  );
  if (earlierNights > 0) await sql`vacuum analyze`.execute(test.db);
  return night;
}

/** A run of its own over the keys, and its items in key order. */
export async function plan(
  { test: { db }, job, keys }: Night,
  { request, businessDate = date }: { request: string; businessDate?: string },
): Promise<Item[]> {
  const run = await db
    .insertInto("nightwriter.run")
    .values({ job_id: job.id, business_date: businessDate, kind: "manual", request_id: request })
    .returning("id")
    .executeTakeFirstOrThrow();
  const items = keys.map((key) => ({ runId: run.id, key, businessDate }));
  await db
    .insertInto("nightwriter.run_item")
    .values(items.map(({ key }) => ({ run_id: run.id, business_date: businessDate, key, partition: 0 })))
    .execute();
  return items;
}

export async function apply(night: Night, items: readonly Item[], term: Term = night.term): Promise<ItemOutcome[]> {
  const { test, job } = night;
  return applyItems({ database: test.database, job, term, worker: "test", logger: silentLogger }, items);
}

/** Parks the items under the night's own term, unless another is given, for an error that is made up. */
export async function park(night: Night, items: readonly Item[], term: Term = night.term): Promise<ParkAnswer[]> {
  const outcome = { outcome: "parked", sqlstate: "22003", reason: "planted" } as const;
  const parked = items.map((item) => ({ item, outcome }));
  return parkItems(night.test.database, { job: night.job, term, parked, worker: "test" });
}

export function applied(outcome: ItemOutcome | undefined): Applied {
  invariant(outcome?.outcome === "applied", `outcome ${outcome?.outcome}: is not applied`);
  return outcome;
}

/** The shipped statement's text, or a wrong one made from it: each replacement must match exactly once. */
export function writeText({ test, job }: Night, ...replacements: readonly (readonly [RegExp, string])[]): string {
  return replacements.reduce((text, [pattern, replacement]) => {
    const matches = text.match(new RegExp(pattern, "g"))?.length ?? 0;
    invariant(matches === 1, `replacement ${pattern}: matches ${matches} times instead of once in\n${text}`);
    return text.replace(pattern, replacement);
  }, guardedWrite(test.db, job).sql);
}

/** The comparisons with the version that the sums belong to, gone: what is locked is what is believed. */
export const withoutVersion: readonly [RegExp, string] = [
  / and "it"\."version" = "delta"\."version" and "delta"\."locked_version" = "delta"\."version"/,
  "",
];

/** Runs a write's text on a session, with the parameters of the shipped statement. */
export async function write(
  night: Night,
  { session, items, text }: { session: Session; items: readonly Item[]; text?: string },
): Promise<WrittenRow[]> {
  const { parameters } = guardedWrite(night.test.db, night.job).bind({
    runIds: items.map((item) => item.runId),
    keys: items.map((item) => item.key),
    businessDates: items.map((item) => item.businessDate),
    runs: [...new Set(items.map((item) => item.runId))],
    partition: 0,
    fencingToken: night.term.fencingToken,
    nonce: night.term.nonce,
    worker: "test",
  });
  return session.query<WrittenRow>(text ?? writeText(night), parameters);
}

/** Waits until `count` statements of this database wait for a lock: then a race stands as it was arranged. */
export async function lockWaiters({ test }: Night, count = 1): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ waiting: number }>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(test.db);
    if ((rows[0]?.waiting ?? 0) >= count) return;
  }
}

export interface Books {
  readonly total: bigint;
  readonly version: bigint;
  /** Deltas in version order, however the versions are numbered. */
  readonly deltas: readonly bigint[];
}

/** What the tables say of a key. */
export async function books({ test: { db }, job, keys }: Night, key: string = keys[0] ?? ""): Promise<Books> {
  const row = await db
    .selectFrom("nightwriter.key_total")
    .select(["total_minor", "version"])
    .where("job_id", "=", job.id)
    .where("key", "=", key)
    .executeTakeFirstOrThrow();
  const entries = await db
    .selectFrom("nightwriter.ledger_entry")
    .select("delta_minor")
    .where("key", "=", key)
    .orderBy("version_after")
    .execute();
  return { total: row.total_minor, version: row.version, deltas: entries.map((entry) => entry.delta_minor) };
}
