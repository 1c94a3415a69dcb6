/** A job of a test's own, and what a test does with its runs: record, plan, apply, look. */

import { silentLogger } from "@nightwriter/core";
import type { Database, Schema } from "@nightwriter/database";
import { type Job, type JobDefinition, registerJob } from "@nightwriter/job";
import { applyItems } from "@nightwriter/ledger";
import { readTerms } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { type DueItem, dueItems, type EnsuredRun, ensureNightlyRun } from "@nightwriter/run";
import { endsAt } from "@nightwriter/schedule";
import { makeRestaurants, type PostgresVersion, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { type Kysely, sql } from "kysely";

export interface TestJob extends AsyncDisposable {
  readonly test: TestDatabase;
  readonly database: Database;
  readonly db: Kysely<Schema>;
  readonly job: Job;
  /** `r0001`… */
  readonly keys: readonly string[];
  plan(date: string): Promise<EnsuredRun>;
  /** Applies everything that is due, or what is due of these keys, by the shipped write. */
  applyDue(keys?: readonly string[]): Promise<void>;
  /** The run's items as `key date`, sorted. */
  itemsOf(runId: bigint): Promise<string[]>;
}

export interface TestJobOptions {
  readonly server?: PostgresVersion;
  readonly restaurants?: number;
  readonly definition?: Partial<JobDefinition>;
  readonly max?: number;
}

/** Registers the shipped job, or a variation of it, in a database of its own, with so many restaurants. */
export async function testJob({ server, restaurants = 2, definition, max = 8 }: TestJobOptions = {}): Promise<TestJob> {
  const test = await testDatabase({ ...(server !== undefined && { server }), max });
  const { database, db } = test;
  const job = await registerJob(database, { ...restaurantTotals, partitionCount: 4, ...definition });
  const keys = await makeRestaurants(db, restaurants);
  return {
    test,
    database,
    db,
    job,
    keys,
    plan: (date) => planNight(database, job, Temporal.PlainDate.from(date)),
    applyDue: (chosen) => applyDue(database, job, chosen),
    itemsOf: (runId) => itemsOf(db, runId),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

/** Whatever year it is where the test runs, the date is over. */
async function planNight(database: Database, job: Job, businessDate: Temporal.PlainDate): Promise<EnsuredRun> {
  return ensureNightlyRun(database, job, { businessDate, now: endsAt(job, businessDate) });
}

/** Everything that is due, in order of run, business date and key. */
export async function allDue(database: Database, job: Job): Promise<DueItem[]> {
  const items: DueItem[] = [];
  for await (const page of dueItems(database, job)) items.push(...page);
  return items;
}

/** One item at a time, since one write takes items of one partition, and one item of a key at most. */
async function applyDue(database: Database, job: Job, keys?: readonly string[]): Promise<void> {
  const due = (await allDue(database, job)).filter(({ key }) => keys === undefined || keys.includes(key));
  const terms = await readTerms(database, job);
  const context = { database, job, worker: "test", logger: silentLogger };
  for (const { partition, key, businessDate, runId } of due) {
    const term = terms[partition];
    if (term === undefined) throw new Error(`partition ${partition}: has no term`);
    const item = { runId: BigInt(runId), key, businessDate };
    let [outcome] = await applyItems({ ...context, term }, [item]);
    // A lock that a test holds for longer than lock_timeout is weather: again, as a worker would.
    while (outcome?.outcome === "unknown") [outcome] = await applyItems({ ...context, term }, [item]);
    if (outcome?.outcome !== "applied") throw new Error(`${key} ${businessDate}: ${outcome?.outcome}`);
  }
}

async function itemsOf(db: Kysely<Schema>, runId: bigint): Promise<string[]> {
  const rows = await db
    .selectFrom("nightwriter.run_item")
    .select(["key", "business_date"])
    .where("run_id", "=", runId)
    .execute();
  return rows.map((row) => `${row.key} ${row.business_date}`).toSorted();
}

/** Pairs whose entries do not amount to their sales, found without any code of the product. */
export async function imbalances(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ pair: string }>`
    select format('%s %s: %s recorded, %s entered', key, business_date, coalesce(s, 0), coalesce(e, 0)) as pair
    from (select restaurant_id as key, business_date, sum(amount_minor) as s from sales.sale group by 1, 2) source
    full join (select key, business_date, sum(delta_minor) as e from nightwriter.ledger_entry group by 1, 2) entered
      using (key, business_date)
    where coalesce(s, 0) <> coalesce(e, 0) order by 1`.execute(db);
  return rows.map(({ pair }) => pair);
}

/** Parks or cancels the key's items of the run, as its own error or an operator would. */
export async function setItemStatus(
  db: Kysely<Schema>,
  runId: bigint,
  { key, status }: { key: string; status: "parked" | "cancelled" },
): Promise<void> {
  await db
    .updateTable("nightwriter.run_item")
    .set({ status })
    .where("run_id", "=", runId)
    .where("key", "=", key)
    .execute();
}

/** Cancels the run as an operator does: what it has not applied is never applied by it. */
export async function cancelRun(db: Kysely<Schema>, runId: bigint): Promise<void> {
  await db.updateTable("nightwriter.run").set({ cancelled_at: new Date() }).where("id", "=", runId).execute();
}

/** Pauses the key as an operator does: its items are not due until it is resumed. */
export async function pauseKey(db: Kysely<Schema>, key: string): Promise<void> {
  await db.updateTable("nightwriter.key_total").set({ paused_at: new Date() }).where("key", "=", key).execute();
}
