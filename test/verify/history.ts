/** A history to verify: three nights of three restaurants, written by the real write; and ways to damage it. */
import { invariant, silentLogger } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import { type Job, type JobDefinition, registerJob } from "@nightwriter/job";
import {
  applyItems,
  type Item,
  type ItemOutcome,
  type VerifyOptions,
  type VerifyReport,
  verify,
} from "@nightwriter/ledger";
import { readTerms, type Term } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { dueItems, ensureNightlyRun, ensureRequestedRun, finishRuns } from "@nightwriter/run";
import { makeRestaurants, type PostgresVersion, recordSales, testDatabase } from "@nightwriter/testkit";
import { expect } from "vitest";

export const nights = ["2026-03-01", "2026-03-02", "2026-03-03"] as const;
export const now: Temporal.Instant = Temporal.Instant.from("2030-01-01T00:00:00Z");

export interface Books {
  readonly database: Database;
  readonly job: Job;
  readonly term: Term;
}

export interface History extends Books, AsyncDisposable {}

/** A job of one partition on an empty database: all its keys are written under one term. */
export async function openBooks(database: Database, definition: JobDefinition = restaurantTotals): Promise<Books> {
  const job = await registerJob(database, { ...definition, partitionCount: 1 });
  const [term] = await readTerms(database, job);
  invariant(term !== undefined, "the job has one partition");
  return { database, job, term };
}

/** A history written once for all tests of a file: each test damages a copy. */
export interface Original extends AsyncDisposable {
  copy(): Promise<History>;
}

export async function openOriginal(server: PostgresVersion = "18"): Promise<Original> {
  const original = await testDatabase({ server });
  await writeHistory(await openBooks(original.database));
  // A database is copied while nobody is connected to it.
  await original.database.close();
  const copy = async (): Promise<History> => {
    const test = await testDatabase({ server, template: original.name });
    return { ...(await openBooks(test.database)), [Symbol.asyncDispose]: () => test[Symbol.asyncDispose]() };
  };
  return { copy, [Symbol.asyncDispose]: () => original[Symbol.asyncDispose]() };
}

/**
 * `r0001`, `r0002` and `r0003` sell 101, 102, 103; 201, 202, 203; and 301, 302, 303 on the three nights. `r0001` has a late sale
 * of 7 on the first date, which the third night adds. The second night of `r0002` is run again, twice. Their versions:
 *
 *     r0001  1: 101   2: 102   3: 7 of the first date   4: 103      313
 *     r0002  1: 201   2: 202   3: 203   4 and 5: 0 of the second    606
 *     r0003  1: 301   2: 302   3: 303                               906
 */
export async function writeHistory(books: Books): Promise<void> {
  const { database, job } = books;
  const restaurants = await makeRestaurants(database.db, 3);
  for (const [night, businessDate] of nights.entries()) {
    const sales = restaurants.map((restaurant, index) => ({
      restaurant,
      businessDate,
      amountMinor: 100 * (index + 1) + night + 1,
    }));
    await recordSales(database.db, sales);
    if (night === 2) await recordSales(database.db, [{ restaurant: "r0001", businessDate: nights[0], amountMinor: 7 }]);
    await runNight(books, businessDate);
  }
  for (const requestId of ["again", "and again"]) {
    const businessDate = Temporal.PlainDate.from(nights[1]);
    await ensureRequestedRun(database, job, { kind: "rerun", businessDate, requestId, keys: ["r0002"] });
    await applyDue(books);
  }
}

export async function planNight({ database, job }: Books, businessDate: string): Promise<void> {
  await ensureNightlyRun(database, job, Temporal.PlainDate.from(businessDate));
}

/** Plans the night, applies all that is due and finishes the run. */
export async function runNight(books: Books, businessDate: string): Promise<void> {
  await planNight(books, businessDate);
  await applyDue(books);
}

/** Applies all that is due, one item after another, and finishes the runs. */
export async function applyDue({ database, job, term }: Books): Promise<ItemOutcome[]> {
  const items: Item[] = [];
  for await (const page of dueItems(database, job)) {
    items.push(...page.map(({ runId, key, businessDate }) => ({ runId: BigInt(runId), key, businessDate })));
  }
  const outcomes: ItemOutcome[] = [];
  for (const item of items) {
    outcomes.push(...(await applyItems({ database, job, term, worker: "test", logger: silentLogger }, [item])));
  }
  await finishRuns(database, job);
  return outcomes;
}

/** Tables whose check lets no row pass that another transaction wrote: not even one that is changed. */
const stamped = ["sales.sale", "sales.opening_total", "nightwriter.ledger_entry", "nightwriter.acknowledgement"];

/** Runs the statements one by one, behind the back of every trigger and constraint trigger. */
export async function damage({ database }: Books, ...statements: readonly string[]): Promise<void> {
  await database.session(async (session) => {
    await session.query("set session_replication_role = replica");
    for (const table of stamped) {
      await session.query(`alter table ${table} drop constraint if exists ${table.split(".")[1]}_own_stamp`);
    }
    for (const statement of statements) await session.query(statement);
    for (const table of stamped) await session.query("select nightwriter.require_stamps($1)", [table]);
    await session.query("reset session_replication_role");
  });
}

/** A violation, short enough to be written down in a test. */
export interface Broken {
  readonly rule: string;
  readonly key?: string;
  readonly date?: string;
  readonly version?: bigint;
  readonly measure: string;
  readonly expected?: bigint;
  readonly actual?: bigint;
}

/** What verify says is wrong, all of it, in whichever way it looks. */
export async function broken(books: Books, options: Partial<VerifyOptions> = {}): Promise<readonly Broken[]> {
  const report = await verifyEachWay(books, options);
  const found = report.rules.flatMap((rule) => rule.violations);
  expect(report.clean).toBe(found.length === 0);
  return found.map(({ rule, key, businessDate, version, measure, expected, actual }) => ({
    rule,
    ...(key !== undefined && { key }),
    ...(businessDate !== undefined && { date: businessDate.toString() }),
    ...(version !== undefined && { version }),
    measure,
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
  }));
}

/** The report, proved not to depend on how many pairs are looked at one by one, nor on how the dates are sliced. */
export async function verifyEachWay(
  { database, job }: Books,
  options: Partial<VerifyOptions> = {},
): Promise<VerifyReport> {
  const report = await verify(database, job, { now, ...options });
  for (const way of [{ namedPairs: 0 }, { sliceEntries: 1 }, { sliceEntries: 1, namedPairs: 1 }]) {
    const {
      steps: _steps,
      durationMs: _durationMs,
      ...said
    } = await verify(database, job, { now, ...options, ...way });
    expect(report).toMatchObject(said);
  }
  return report;
}
