/** A plan beside pairs that cannot be looked at. */
import { bothPostgres, makeRestaurants, recordSales } from "@nightwriter/testkit";
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
});
