import type { ImportOptions } from "@nightwriter/sales";
import { testDatabase } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { importNew, optionsOf, takeaway } from "./fixture.ts";

const amount = { quantityColumn: "quantity", priceColumn: "product price" };

function ordersOf(name: string, restaurant: ImportOptions["restaurant"], format: string): ImportOptions {
  return optionsOf(takeaway(name), { restaurant, date: { column: "order date", format }, amount });
}

const files = [
  {
    name: "takeaway-1-orders",
    server: "18",
    options: ordersOf("takeaway-1-orders", { id: "one" }, "dd/MM/yyyy HH:mm"),
    lines: 1_998,
    sum: 3_192_40n,
    dates: 230,
    restaurants: 1,
  },
  {
    name: "takeaway-2-orders",
    server: "15",
    options: ordersOf("takeaway-2-orders", { id: "two" }, "dd/MM/yyyy HH:mm"),
    lines: 1_998,
    sum: 3_934_50n,
    dates: 141,
    restaurants: 1,
  },
  {
    name: "takeaway-outlets-orders",
    server: "18",
    options: ordersOf("takeaway-outlets-orders", { column: "CITY" }, "dd/MM/yy HH:mm"),
    lines: 74_818,
    sum: 446_517_45n,
    dates: 1_207,
    restaurants: 6,
  },
] as const;

describe("importSales of real files", () => {
  it.each(files)("records $name to the penny", async ({ server, options, lines, sum, dates, restaurants }) => {
    await using test = await testDatabase({ server });
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

  it("counts what was sold before the cutoff to the day before", async () => {
    await using test = await testDatabase();
    const options = ordersOf("takeaway-1-orders", { id: "one" }, "dd/MM/yyyy HH:mm");
    await importNew(test.database, { ...options, cutoff: "20:30" });
    const first = await test.db
      .selectFrom("sales.sale")
      .select("business_date")
      .where("source_line", "=", 2n)
      .executeTakeFirstOrThrow();
    // Line 2 was sold on 03/08/2019 at 20:25.
    expect(first.business_date).toBe("2019-08-02");
  });
});
