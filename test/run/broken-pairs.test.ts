/** A plan beside pairs that cannot be looked at. */
import type { JobDefinition } from "@nightwriter/job";
import { ensureRequestedRun } from "@nightwriter/run";
import { bothPostgres, makeRestaurants, recordSales } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { breakKeys, brokenTotals, mendKeys, prepareBroken } from "../ledger/broken-keys.ts";
import { imbalances, testJob } from "./test-job.ts";

const [monday, tuesday, wednesday] = ["2026-03-09", "2026-03-10", "2026-03-11"] as const;
const broken = {
  r0003: "21000",
  r0077: "P0002",
  r0078: "XX001",
  r0150: "23503",
  r0222: "22012",
  r0399: "42P01",
} as const;

describe.each(bothPostgres)("a plan on PostgreSQL %s", (server) => {
  it.each(["stable", "volatile"] as const)(
    "compares 394 of 400 keys when six fail by a %s function, and plans the six as well",
    async (volatility) => {
      await using night = await testJob({ server, restaurants: 400, definition: brokenTotals });
      await prepareBroken(night.db, { volatility });
      const sales = (keys: readonly string[], amounts: readonly number[]) =>
        recordSales(
          night.db,
          keys.flatMap((restaurant) =>
            amounts.map((amountMinor) => ({ restaurant, businessDate: monday, amountMinor })),
          ),
        );
      // Touched, and nothing is owed: who compares leaves them out.
      await sales(night.keys, [10, -10]);
      await sales(["r0009"], [5]);
      await breakKeys(night.db, broken);
      const { run, planned, uncompared } = await night.plan(tuesday);
      expect(planned).toBe(400 + 1 + 6);
      const failed = uncompared.map(({ key, business_date, fault }) => [key, business_date, fault.sqlstate]);
      expect(failed).toEqual(Object.entries(broken).map(([key, sqlstate]) => [key, monday, sqlstate]));
      const earlier = (await night.itemsOf(run.id)).filter((item) => item.endsWith(monday));
      expect(earlier).toEqual([...Object.keys(broken), "r0009"].toSorted().map((key) => `${key} ${monday}`));
    },
  );

  it("loses nothing of a pair that could not be looked at, and looks at it again when it is mended", async () => {
    await using night = await testJob({ server, restaurants: 3, definition: brokenTotals });
    await prepareBroken(night.db, { volatility: "volatile" });
    await makeRestaurants(night.db, 1, { id: "closed", active: false });
    await night.plan(monday);
    await night.applyDue();
    await recordSales(night.db, [
      { restaurant: "r0002", businessDate: monday, amountMinor: 7 },
      { restaurant: "closed", businessDate: tuesday, amountMinor: 9 },
    ]);
    await breakKeys(night.db, { r0002: "P0002", closed: "21000" });
    const { uncompared } = await night.plan(tuesday);
    expect(uncompared).toMatchObject([
      { key: "closed", business_date: tuesday },
      { key: "r0002", business_date: monday },
    ]);
    await mendKeys(night.db);
    await night.applyDue();
    expect((await night.plan(wednesday)).uncompared).toEqual([]);
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
  });

  it.each([
    // Rows can be read, and amounts not: the keys that were touched are asked for.
    ["stable", false],
    // No row of it can be read: it is known by its total.
    ["volatile", true],
  ] as const)(
    "isolates source rows of a key that the job does not list, by a %s function",
    async (volatility, known) => {
      const listed: JobDefinition = {
        ...brokenTotals,
        keys: (db) =>
          db.selectFrom("sales.restaurant").select(["id as key", "active"]).where("id", "not like", "unlisted%"),
      };
      await using night = await testJob({ server, restaurants: 2, definition: listed });
      await prepareBroken(night.db, { volatility });
      for (const id of ["unlisted1", "unlisted2"]) await makeRestaurants(night.db, 1, { id });
      const sell = async (amounts: Readonly<Record<string, number>>) =>
        recordSales(
          night.db,
          Object.entries(amounts).map(([restaurant, amountMinor]) => ({
            restaurant,
            businessDate: monday,
            amountMinor,
          })),
        );
      if (known) {
        await sell({ unlisted1: 1, unlisted2: 1 });
        await night.plan(tuesday);
        await night.applyDue();
      }
      // Touched, and nothing is owed: who compares leaves r0002 out.
      await sell({ r0002: 10 });
      await sell({ r0001: 5, r0002: -10, unlisted1: 7, unlisted2: 9 });
      await breakKeys(night.db, { unlisted2: "P0002" });
      const { run, uncompared } = await night.plan(tuesday);
      expect(uncompared).toMatchObject([{ key: "unlisted2", business_date: monday }]);
      const earlier = (await night.itemsOf(run.id)).filter((item) => item.endsWith(monday));
      expect(earlier).toEqual(["r0001", "unlisted1", "unlisted2"].map((key) => `${key} ${monday}`));
    },
  );

  it("isolates a key of which it cannot be read whether it is active", async () => {
    const askedActive: JobDefinition = {
      ...brokenTotals,
      keys: () => sql<never>`(select id as key, active and checked(id, 1) = 1 as active from sales.restaurant)`,
    };
    await using night = await testJob({ server, restaurants: 9, definition: askedActive });
    await prepareBroken(night.db, { volatility: "stable" });
    await breakKeys(night.db, { r0004: "22012" });
    const { planned, uncompared } = await night.plan(monday);
    expect(planned).toBe(9);
    expect(uncompared).toMatchObject([{ key: "r0004", business_date: monday, fault: { sqlstate: "22012" } }]);
  });

  it.each(["backfill", "rerun"] as const)("isolates them in a %s as well, twice the same", async (kind) => {
    await using night = await testJob({ server, restaurants: 3, definition: brokenTotals });
    await prepareBroken(night.db, { volatility: "volatile" });
    const closed = ["closed1", "closed2"];
    for (const id of closed) await makeRestaurants(night.db, 1, { id, active: false });
    await night.plan(monday);
    await night.applyDue();
    const amounts = Object.fromEntries([...night.keys, ...closed].map((key, index) => [key, index + 1]));
    await recordSales(
      night.db,
      Object.entries(amounts).map(([restaurant, amountMinor]) => ({ restaurant, businessDate: monday, amountMinor })),
    );
    const [bad = ""] = closed;
    await breakKeys(night.db, { [bad]: "21000" });
    const request = { kind, businessDate: Temporal.PlainDate.from(monday), requestId: kind } as const;
    const first = await ensureRequestedRun(night.database, night.job, request);
    expect(first.uncompared).toMatchObject([{ key: bad, business_date: monday }]);
    expect(first.planned).toBe(5);
    const again = await ensureRequestedRun(night.database, night.job, request);
    expect(again).toMatchObject({ created: false, planned: 0, leftOut: first.leftOut });
    await mendKeys(night.db);
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
  });
});
