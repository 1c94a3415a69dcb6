/** A job whose source can change in place and says nothing of when. */
import type { JobDefinition } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { makeRestaurants, recordSales, testDatabase } from "@nightwriter/testkit";
import { expect, test } from "vitest";
import { broken, openBooks, runNight, verifyEachWay } from "./history.ts";

const definition: JobDefinition = {
  ...restaurantTotals,
  name: "restaurant-lookback",
  source: {
    kind: "lookback",
    days: 2,
    rows: (db) => db.selectFrom("sales.sale").select(["restaurant_id as key", "business_date", "amount_minor"]),
  },
};

test("a lookback job has no rule about snapshots of its source, and later sales are outstanding as far back as the next night looks", async () => {
  await using database = await testDatabase();
  const books = await openBooks(database.database, definition);
  await makeRestaurants(database.db, 1);
  const sell = (businessDate: string, amountMinor: number) =>
    recordSales(database.db, [{ restaurant: "r0001", businessDate, amountMinor }]);
  for (const date of ["2026-03-01", "2026-03-02", "2026-03-03"]) {
    await sell(date, 100);
    await runNight(books, date);
  }
  const report = await verifyEachWay(books);
  expect(report.clean).toBe(true);
  expect(report.rules.filter((rule) => rule.status !== "holds").map((rule) => [rule.rule, rule.status])).toEqual([
    ["delta-from-snapshot", "not applicable"],
  ]);

  // The night of the 4th compares the 4th and, within two days of it, the 3rd.
  await sell("2026-03-03", 7);
  expect(await verifyEachWay(books)).toMatchObject({
    clean: true,
    outstanding: [{ key: "r0001", reason: "unplanned", amountMinor: 7n }],
  });
  await sell("2026-03-02", 7);
  expect(await broken(books)).toEqual([
    {
      rule: "entries-equal-sources",
      key: "r0001",
      date: "2026-03-02",
      measure: "sum of deltas",
      expected: 107n,
      actual: 100n,
    },
  ]);
});
