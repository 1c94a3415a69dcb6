import { businessDate, type ImportOptions } from "@nightwriter/sales";
import { testDatabase } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { importNew, optionsOf, takeaway } from "./fixture.ts";

const amount = { quantityColumn: "quantity", priceColumn: "product price" };

function ordersOf(name: string, restaurant: ImportOptions["restaurant"], format: string): ImportOptions {
  return optionsOf(takeaway(name), { restaurant, date: { column: "order date", format }, amount });
}

const files = [
  ["takeaway-1-orders", ordersOf("takeaway-1-orders", { id: "one" }, "dd/MM/yyyy HH:mm"), 1_998, 3_192_40n, 230, 1],
  ["takeaway-2-orders", ordersOf("takeaway-2-orders", { id: "two" }, "dd/MM/yyyy HH:mm"), 1_998, 3_934_50n, 141, 1],
  [
    "takeaway-outlets-orders",
    ordersOf("takeaway-outlets-orders", { column: "CITY" }, "dd/MM/yy HH:mm"),
    74_818,
    446_517_45n,
    1_207,
    6,
  ],
] as const;

describe("importSales of real files", () => {
  it.each(files)("records %s to the penny", async (_, options, lines, sum, dates, restaurants) => {
    await using test = await testDatabase();
    const result = await importNew(test.database, options);
    expect(result).toMatchObject({ lines, knownLines: 0, skipped: 0, restaurantsCreated: restaurants });
    expect([...result.sums]).toEqual([["GBP", sum]]);
    expect(result.businessDates).toHaveLength(dates);
    const stored = await test.db
      .selectFrom("sales.sale")
      .select((eb) => [
        eb.fn.countAll<bigint>().as("count"),
        eb.fn.sum<string>("amount_minor").as("sum"),
        eb.fn.count<bigint>("business_date").distinct().as("dates"),
        eb.fn.min("business_date").as("first"),
        eb.fn.max("business_date").as("last"),
      ])
      .executeTakeFirstOrThrow();
    expect(stored).toEqual({
      count: BigInt(lines),
      sum: String(sum),
      dates: BigInt(dates),
      first: result.businessDates[0]?.toString(),
      last: result.businessDates.at(-1)?.toString(),
    });
  });

  it("counts what was sold after midnight to the day before, with a cutoff", async () => {
    await using test = await testDatabase();
    const [, options] = files[0];
    await importNew(test.database, { ...options, cutoff: "19:30" });
    const known = await test.db
      .selectFrom("sales.sale")
      .select(["business_date"])
      .where("source_line", "=", 2n)
      .executeTakeFirstOrThrow();
    // Line 2 was sold on 03/08/2019 at 20:25.
    const local = Temporal.PlainDateTime.from("2019-08-03T20:25");
    expect(known.business_date).toBe(businessDate(local, Temporal.PlainTime.from("19:30")).toString());
    const shifted = await test.db
      .selectFrom("sales.sale")
      .select((eb) => eb.fn.count<bigint>("business_date").distinct().as("dates"))
      .executeTakeFirstOrThrow();
    expect(shifted.dates).not.toBe(230n);
  });
});
