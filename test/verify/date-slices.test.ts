/** Dates in slices: together they are all dates, also those that nothing was entered for. */
import { recordSales } from "@nightwriter/testkit";
import { expect, test } from "vitest";
import { nights, openOriginal, runNight, verifyEachWay } from "./history.ts";

const restaurant = "r0003";
/** Before the first entry, between two nights, and after the last one. */
const without = ["2026-02-20", "2026-03-05", "2026-03-09"];

test("a sale on a date without an entry is found before, between and after those that have some", async () => {
  await using original = await openOriginal();
  await using history = await original.copy();
  const { database } = history;
  await recordSales(database.db, [{ restaurant, businessDate: "2026-03-06", amountMinor: 5 }]);
  await runNight(history, "2026-03-06");
  for (const businessDate of without) {
    await recordSales(database.db, [{ restaurant, businessDate, amountMinor: 7 }]);
  }
  const report = await verifyEachWay(history, { sliceEntries: 1 });
  expect(report.outstanding.map(({ businessDate }) => businessDate.toString())).toEqual(without);
  const slices = report.steps.filter(({ step }) => step.startsWith("pairs"));
  expect(slices).toHaveLength(nights.length + 1);
});

test("only the dates that were asked for are looked at, however they are sliced", async () => {
  await using original = await openOriginal();
  await using history = await original.copy();
  for (const businessDate of without) {
    await recordSales(history.database.db, [{ restaurant, businessDate, amountMinor: 7 }]);
  }
  const from = Temporal.PlainDate.from("2026-02-21");
  const to = Temporal.PlainDate.from("2026-03-08");
  const report = await verifyEachWay(history, { from, to, sliceEntries: 1 });
  expect(report.outstanding.map(({ businessDate }) => businessDate.toString())).toEqual(["2026-03-05"]);
});
