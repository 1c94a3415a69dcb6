/** Differences that are excused, because somebody still has to do something about them; and those that are not. */
import { type DifferingPair, parkItems, verify } from "@nightwriter/ledger";
import { recordSales, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  applyDue,
  type Books,
  broken,
  nights,
  now,
  type Original,
  openBooks,
  openOriginal,
  planNight,
  runNight,
  verifyEachWay,
} from "./history.ts";

const [first, second, third] = nights;
const fourth = "2026-03-04";
const pair = { key: "r0003", businessDate: Temporal.PlainDate.from(fourth) };

async function sell({ database }: Books, businessDate: string, amountMinor: bigint | number): Promise<void> {
  await recordSales(database.db, [{ restaurant: "r0003", businessDate, amountMinor }]);
}

/** The fourth night is planned with a sale of 304; returns its run, and when it was planned. */
async function planFourth(history: Books): Promise<{ runId: bigint; since: Temporal.Instant }> {
  await sell(history, fourth, 304);
  await planNight(history, fourth);
  return findNight(history, fourth);
}

async function findNight(
  { database }: Books,
  businessDate: string,
): Promise<{ runId: bigint; since: Temporal.Instant }> {
  const run = await database.db
    .selectFrom("nightwriter.run")
    .select(["id", sql<Date>`planned_at`.as("planned_at")])
    .where("kind", "=", "nightly")
    .where("business_date", "=", businessDate)
    .executeTakeFirstOrThrow();
  return { runId: run.id, since: run.planned_at.toTemporalInstant() };
}

function aged(since: Temporal.Instant): { since: Temporal.Instant; age: Temporal.Duration } {
  return { since, age: now.since(since, { largestUnit: "hour" }) };
}

let original: Original;
beforeAll(async () => {
  original = await openOriginal();
});
afterAll(async () => original[Symbol.asyncDispose]());

describe("outstanding", () => {
  test("is nothing when every night has run", async () => {
    await using history = await original.copy();
    const report = await verifyEachWay(history);
    expect(report).toMatchObject({
      clean: true,
      outstanding: [],
      outstandingSums: [],
      entryCount: 12,
      keyCount: 3,
      totalMinor: 313n + 606n + 906n,
    });
    expect(report.rules).toHaveLength(15);
    expect(new Set(report.rules.map((rule) => rule.status))).toEqual(new Set(["holds"]));
    expect(report.epochs).toHaveLength(1);
  });

  test("is what is due, with its run and the age of its plan", async () => {
    await using history = await original.copy();
    const { runId, since } = await planFourth(history);
    const report = await verifyEachWay(history);
    expect(report.clean).toBe(true);
    expect(report.outstanding).toEqual([{ ...pair, reason: "due", amountMinor: 304n, runId, ...aged(since) }]);
    expect(report.outstandingSums).toEqual([{ reason: "due", pairCount: 1, amountMinor: 304n }]);
    await applyDue(history);
    expect(await verifyEachWay(history)).toMatchObject({ clean: true, outstanding: [] });
  });

  test("is what was parked", async () => {
    await using history = await original.copy();
    const { runId, since } = await planFourth(history);
    const item = { runId, key: "r0003", businessDate: fourth };
    const outcome = { outcome: "parked", sqlstate: undefined, reason: "under audit" } as const;
    const { database, job, term } = history;
    await parkItems(database, { job, term, parked: [{ item, outcome }], worker: "test" });
    await applyDue(history);
    const report = await verifyEachWay(history);
    expect(report.clean).toBe(true);
    expect(report.outstanding).toEqual([{ ...pair, reason: "parked", amountMinor: 304n, runId, ...aged(since) }]);
  });

  test("is what was cancelled, item or run", async () => {
    await using history = await original.copy();
    const { runId, since } = await planFourth(history);
    const { db } = history.database;
    const expected = [{ ...pair, reason: "cancelled", amountMinor: 304n, runId, ...aged(since) }];
    await db
      .updateTable("nightwriter.run_item")
      .set({ status: "cancelled" })
      .where("run_id", "=", runId)
      .where("key", "=", "r0003")
      .execute();
    await applyDue(history);
    expect(await verifyEachWay(history)).toMatchObject({ clean: true, outstanding: expected });
    await db.updateTable("nightwriter.run_item").set({ status: "due" }).where("run_id", "=", runId).execute();
    await db.updateTable("nightwriter.run").set({ cancelled_at: new Date() }).where("id", "=", runId).execute();
    expect(await verifyEachWay(history)).toMatchObject({ clean: true, outstanding: expected });
  });

  test("is what came after the last plan, for its dates or later ones, until the next night", async () => {
    await using history = await original.copy();
    await sell(history, first, 9);
    await sell(history, fourth, 304);
    await sell(history, second, -2);
    const { since } = await findNight(history, third);
    const report = await verifyEachWay(history);
    expect(report.clean).toBe(true);
    const late = { key: "r0003", reason: "unplanned", runId: undefined, ...aged(since) };
    expect(report.outstanding).toEqual([
      { ...late, businessDate: Temporal.PlainDate.from(first), amountMinor: 9n },
      { ...late, businessDate: Temporal.PlainDate.from(second), amountMinor: -2n },
      { ...late, businessDate: Temporal.PlainDate.from(fourth), amountMinor: 304n },
    ]);
    expect(report.outstandingSums).toEqual([{ reason: "unplanned", pairCount: 3, amountMinor: 311n }]);
    expect(await verifyEachWay(history, { listed: 1 })).toMatchObject({
      outstanding: [{ amountMinor: 9n }],
      outstandingSums: [{ pairCount: 3, amountMinor: 311n }],
    });
    await runNight(history, fourth);
    expect(await verifyEachWay(history)).toMatchObject({ clean: true, outstanding: [], totalMinor: 1825n + 311n });
  });

  test("is brought whole and page by page to whoever asks for every pair, however few are listed", async () => {
    await using history = await original.copy();
    const days = Array.from({ length: 2_500 }, (_, day) =>
      Temporal.PlainDate.from(fourth).add({ days: day }).toString(),
    );
    await recordSales(
      history.database.db,
      days.map((businessDate) => ({ restaurant: "r0003", businessDate, amountMinor: 5 })),
    );
    const pages: (readonly DifferingPair[])[] = [];
    const { database, job } = history;
    const report = await verify(database, job, { now, listed: 1, onPairs: async (page) => void pages.push(page) });
    expect(report.outstandingSums).toEqual([{ reason: "unplanned", pairCount: 2_500, amountMinor: 12_500n }]);
    expect(pages.map((page) => page.length)).toEqual([1_000, 1_000, 500]);
    const pairs = pages.flat();
    expect(pairs.map(({ businessDate }) => businessDate.toString())).toEqual(days);
    expect(pairs[0]).toMatchObject({ status: "unplanned", key: "r0003", sourceMinor: 5n, enteredMinor: 0n });
  });

  test("is everything, of unknown age, before the first plan", async () => {
    await using test = await testDatabase();
    const books = await openBooks(test.database);
    await test.db
      .insertInto("sales.restaurant")
      .values({ id: "r0003", name: "Third", time_zone: "UTC", currency: "EUR" })
      .execute();
    await sell(books, first, 301);
    expect(await verifyEachWay(books)).toMatchObject({
      clean: true,
      outstanding: [{ key: "r0003", reason: "unplanned", amountMinor: 301n, since: undefined, age: undefined }],
    });
  });

  test("is not a late sale of a closed date, which no plan will take up", async () => {
    await using history = await original.copy();
    await history.database.db.updateTable("nightwriter.job").set({ closed_through: first }).execute();
    await sell(history, first, 9);
    await sell(history, second, 9);
    const sums = { rule: "entries-equal-sources", key: "r0003", measure: "sum of deltas" };
    expect(await broken(history)).toEqual([{ ...sums, date: first, expected: 310n, actual: 301n }]);
    expect(await broken(history, { from: Temporal.PlainDate.from(second) })).toEqual([]);
  });

  test("is more than any bigint where a key's rows add up to that, and hides no other", async () => {
    await using history = await original.copy();
    const largest = 2n ** 63n - 1n;
    await sell(history, fourth, largest);
    await sell(history, fourth, largest);
    await runNight(history, fourth);
    expect(await verifyEachWay(history)).toMatchObject({
      clean: true,
      outstanding: [{ ...pair, reason: "parked", amountMinor: 2n * largest }],
    });
    await history.database.session(async (session) => {
      await session.query("set session_replication_role = replica");
      await session.query("delete from sales.sale where restaurant_id = 'r0001' and business_date = '2026-03-02'");
      await session.query("reset session_replication_role");
    });
    expect(await broken(history)).toContainEqual({
      rule: "entries-equal-sources",
      key: "r0001",
      date: second,
      measure: "sum of deltas",
      expected: 0n,
      actual: 102n,
    });
  });
});

describe("a range of business dates", () => {
  test("limits what is about dates, and nothing else", async () => {
    await using history = await original.copy();
    await history.database.db.updateTable("nightwriter.job").set({ closed_through: third }).execute();
    for (const date of nights) await sell(history, date, 9);
    await history.database.db
      .updateTable("nightwriter.key_total")
      .set({ total_minor: 0 })
      .where("key", "=", "r0001")
      .execute();
    const date = Temporal.PlainDate.from(second);
    expect((await broken(history, { from: date, to: date })).map((each) => [each.rule, each.date])).toEqual([
      ["total-row", third],
      ["entries-equal-sources", second],
    ]);
  });
});
