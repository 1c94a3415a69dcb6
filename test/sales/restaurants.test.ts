import { importSales } from "@nightwriter/sales";
import { testDatabase } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { importNew, optionsOf, rowCounts, saleLines, temporaryFolder } from "./fixture.ts";

describe("importSales and restaurants", () => {
  const content =
    "date,amount,city\n01/03/2026 12:00,1,Soho\n01/03/2026 12:00,2,Kensington\n01/03/2026 13:00,3, Soho \n";
  const restaurant = { column: "City" };

  it("makes those that it does not know, with the zone as IANA spells it", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const options = { restaurant, zone: "europe/london", cutoff: "04:00" };
    const result = await importNew(test.database, optionsOf(await folder.write("x.csv", content), options));
    expect(result).toMatchObject({ lines: 3, restaurantsCreated: 2 });
    const rows = await test.db.selectFrom("sales.restaurant").selectAll().orderBy("id").execute();
    const common = { time_zone: "Europe/London", cutoff: "04:00:00", currency: "GBP", active: true };
    expect(rows).toMatchObject([
      { id: "Kensington", name: "Kensington", ...common },
      { id: "Soho", name: "Soho", ...common },
    ]);
  });

  it("leaves known ones as they are, and reads their lines by what is stored", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await test.db
      .insertInto("sales.restaurant")
      .values([
        { id: "Soho", name: "Soho Tandoori", time_zone: "Europe/London", cutoff: "12:30", currency: "JPY" },
        { id: "Kensington", name: "Kensington", time_zone: "Europe/London", currency: "KWD" },
      ])
      .execute();
    const { zone, currency, ...options } = optionsOf(await folder.write("x.csv", content), { restaurant });
    expect([zone, currency]).toEqual(["Europe/London", "GBP"]);
    const result = await importNew(test.database, options);
    expect([...result.sums]).toEqual([
      ["JPY", 4n],
      ["KWD", 2000n],
    ]);
    expect(await saleLines(test.database)).toEqual(["2 2026-02-28 1", "3 2026-03-01 2000", "4 2026-03-01 3"]);
  });

  it.each([
    ["currency", { currency: "EUR" }, "restaurant soho: its currency is GBP, not EUR"],
    ["zone", { zone: "Europe/Paris" }, "restaurant soho: its zone is Europe/London, not Europe/Paris"],
    ["cutoff", { cutoff: "05:00" }, "restaurant soho: its cutoff is 00:00, not 05:00"],
  ])("refuses another %s than the one that is stored", async (_, options, message) => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await importNew(test.database, optionsOf(await folder.write("x.csv", "date,amount\n01/03/2026 12:00,1\n")));
    const other = optionsOf(await folder.write("y.csv", "date,amount\n01/03/2026 12:00,2\n"), options);
    await expect(importNew(test.database, other)).rejects.toMatchObject({
      code: "restaurant_differs",
      message: expect.stringContaining(message) as string,
    });
    expect(await rowCounts(test.database)).toEqual({ sales: 1, files: 1, restaurants: 1 });
  });

  it("takes another name of the same zone for the same", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const options = { zone: "Asia/Calcutta", currency: "INR" };
    await importNew(
      test.database,
      optionsOf(await folder.write("x.csv", "date,amount\n01/03/2026 12:00,1\n"), options),
    );
    const file = await folder.write("y.csv", "date,amount\n01/03/2026 12:00,2\n");
    const again = await importNew(test.database, optionsOf(file, { ...options, zone: "Asia/Kolkata" }));
    expect(again.lines).toBe(1);
  });

  it("asks for zone and currency when it would have to make one without", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const { zone, currency, ...options } = optionsOf(await folder.write("x.csv", content), { restaurant });
    expect([zone, currency]).toEqual(["Europe/London", "GBP"]);
    await expect(importNew(test.database, options)).rejects.toMatchObject({
      code: "settings_missing",
      message: "restaurant Kensington: is not known; to make it, say its --zone and --currency",
    });
  });

  it("looks restaurants up whenever new ones turn up, however many there are", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const lines = Array.from({ length: 60_000 }, (_, index) => `01/03/2026 12:00,1,R${index % 55_000}`);
    const file = await folder.write("x.csv", `date,amount,city\n${lines.join("\n")}\n`);
    const result = await importNew(test.database, optionsOf(file, { restaurant }));
    expect(result).toMatchObject({ lines: 60_000, restaurantsCreated: 55_000 });
    expect(await rowCounts(test.database)).toEqual({ sales: 60_000, files: 1, restaurants: 55_000 });
  });

  it.each(["by its column first", "for one restaurant first"])(
    "refuses a file that was imported with its restaurants given in another way: %s",
    async (order) => {
      await using folder = await temporaryFolder();
      await using test = await testDatabase();
      const file = await folder.write("x.csv", "date,amount,shop\n01/03/2026 12:00,1.00,soho\n");
      const ways = [{ restaurant: { column: "shop" } }, { restaurant: { id: "soho" } }];
      const [one, other] = order.startsWith("by") ? ways : ways.toReversed();
      await importNew(test.database, optionsOf(file, one));
      await expect(importSales(test.database, optionsOf(file, other))).rejects.toMatchObject({ code: "in_doubt" });
      expect(await rowCounts(test.database)).toMatchObject({ sales: 1, files: 1 });
    },
  );
});
