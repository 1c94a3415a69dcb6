import { gzipSync } from "node:zlib";
import type { ImportOptions } from "@nightwriter/sales";
import { testDatabase } from "@nightwriter/testkit";
import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { importNew, nothing, optionsOf, rowCounts, saleLines, sales, temporaryFolder } from "./fixture.ts";

/** Imports a file of its own and answers its sales as "line date minor". */
async function linesOf(content: string | Buffer, options: Partial<ImportOptions> = {}): Promise<string[]> {
  await using folder = await temporaryFolder();
  await using test = await testDatabase();
  await importNew(test.database, optionsOf(await folder.write("x.csv", content), options));
  return await saleLines(test.database);
}

describe("importSales", () => {
  it.each<[string, string | Buffer, Partial<ImportOptions>]>([
    [
      "carriage returns and no line end at the end",
      "date,amount\r\n01/03/2026 12:00,12.50\r\n02/03/2026 12:00,-0.80",
      {},
    ],
    ["a byte order mark", "\uFEFFdate,amount\n01/03/2026 12:00,12.50\n02/03/2026 12:00,-0.80\n", {}],
    ["gzip", gzipSync("date,amount\n01/03/2026 12:00,12.50\n02/03/2026 12:00,-0.80\n"), {}],
    [
      "semicolons, decimal commas and currency signs",
      "Datum;Betrag\n01/03/2026 12:00;12,50 €\n02/03/2026 12:00;-0,80 €\n",
      {
        delimiter: ";",
        decimalComma: true,
        currency: "EUR",
        date: { column: "DATUM", format: "dd/MM/yyyy HH:mm" },
        amount: { column: "betrag" },
      },
    ],
    [
      "Latin-1",
      iconv.encode("date,größe,amount\n01/03/2026 12:00,£12.50,12.50\n02/03/2026 12:00,x,£-0.80\n", "latin1"),
      { encoding: "latin-1" },
    ],
    [
      "the euro sign of windows-1252",
      Buffer.from("date,amount\n01/03/2026 12:00,\x8012.50\n02/03/2026 12:00,-0.80", "latin1"),
      { encoding: "latin-1", currency: "EUR" },
    ],
    [
      "quotes and tabs",
      '"date"\t"amount"\n01/03/2026 12:00\t"12.50"\n"02/03/2026 12:00"\t-0.80\n',
      { delimiter: "\t" },
    ],
    [
      "a quantity and a price",
      "date,qty,each\n01/03/2026 12:00,5,2.50\n02/03/2026 12:00,-2,0.40\n",
      { amount: { quantityColumn: "QTY", priceColumn: "Each" } },
    ],
    ["a delimiter at the end of each line", "date,amount\n01/03/2026 12:00,12.50,\n02/03/2026 12:00,-0.80,\n", {}],
    [
      "two-digit years",
      "date,amount\n01/03/26 12:00,12.50\n02/03/26 12:00,-0.80\n",
      { date: { column: "date", format: "dd/MM/yy HH:mm" } },
    ],
  ])("reads %s", async (_, content, options) => {
    expect(await linesOf(content, options)).toEqual(["2 2026-03-01 1250", "3 2026-03-02 -80"]);
  });

  it("numbers sales by the line of the file, past blank lines and line ends in fields", async () => {
    const content = 'date,note,amount\n\n01/03/2026 12:00,"a\r\nb",1.00\n02/03/2026 12:00,c,2.00\n';
    expect(await linesOf(content)).toEqual(["3 2026-03-01 100", "5 2026-03-02 200"]);
  });

  it.each([
    ["JPY", "1250", 1250],
    ["KWD", "12.345", 12345],
  ])("takes the decimals that %s has", async (currency, amount, minor) => {
    expect(await linesOf(`date,amount\n01/03/2026 12:00,${amount}\n`, { currency })).toEqual([`2 2026-03-01 ${minor}`]);
  });

  it("dates sales by the wall clock minus the cutoff, on the nights when clocks change", async () => {
    const content = [
      "date,amount",
      "29/03/2026 00:59,1",
      "29/03/2026 01:30,2",
      "29/03/2026 03:59,3",
      "29/03/2026 04:00,4",
      "25/10/2026 01:30,5",
      "25/10/2026 03:59,6",
      "25/10/2026 04:00,7",
    ].join("\n");
    expect(await linesOf(content, { cutoff: "04:00" })).toEqual([
      "2 2026-03-28 100",
      "3 2026-03-28 200",
      "4 2026-03-28 300",
      "5 2026-03-29 400",
      "6 2026-10-24 500",
      "7 2026-10-24 600",
      "8 2026-10-25 700",
    ]);
  });

  it("sees instants on the restaurant's own wall clock", async () => {
    const date = { column: "date", format: "yyyy-MM-dd'T'HH:mmXXX" };
    const content = "date,amount\n2026-03-29T02:59Z,1\n2026-03-29T03:00Z,2\n2026-03-29T04:00+05:30,3\n";
    // On that day London's clocks show 03:59, 04:00 and 23:30 of the day before.
    expect(await linesOf(content, { date, cutoff: "04:00" })).toEqual([
      "2 2026-03-28 100",
      "3 2026-03-29 200",
      "4 2026-03-28 300",
    ]);
  });

  it("takes a date without a time for the business date itself", async () => {
    const date = { column: "date", format: "yyyy-MM-dd" };
    expect(await linesOf("date,amount\n2026-03-01,1\n", { date, cutoff: "04:00" })).toEqual(["2 2026-03-01 100"]);
  });

  it("escapes what COPY would take for its own", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const names = ["back\\slash\\n", "tab\there", "two\nlines", "\\.", "\\N", "Zoë's"];
    const lines = names.map((name) => `01/03/2026 12:00,1,"${name}"`);
    const file = await folder.write("x.csv", `date,amount,city\n${lines.join("\n")}\n`);
    await importNew(test.database, optionsOf(file, { restaurant: { column: "city" } }));
    expect((await sales(test.database)).map((sale) => sale.restaurant)).toEqual(names);
  });

  it("records nothing of a file that has a header only, and does not remember it", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const file = await folder.write("x.csv", "date,amount\n");
    expect(await importNew(test.database, optionsOf(file))).toMatchObject({ lines: 0, businessDates: [] });
    expect(await rowCounts(test.database)).toMatchObject({ sales: 0, files: 0 });
  });

  it.each<[string, string | Buffer, string, Partial<ImportOptions>]>([
    ["an empty file", "", "file_empty", {}],
    ["blank lines only", "\n\n", "file_empty", {}],
    ["UTF-16", Buffer.from("\uFEFFdate,amount\n", "utf16le"), "file_encoding", {}],
    ["a broken gzip file", gzipSync("date,amount\n".repeat(1_000)).subarray(0, 30), "file_unreadable", {}],
    ["a missing column", "date,price\n", "column_missing", {}],
    ["a line of megabytes", `date,amount\n${"x".repeat(3_000_000)}\n`, "line_too_long", {}],
    ["an unknown zone", "date,amount\n", "zone_unknown", { zone: "Europe/Soho" }],
    ["an offset for a zone", "date,amount\n", "zone_unknown", { zone: "+01:00" }],
    ["an unknown currency", "date,amount\n", "currency_unknown", { currency: "ABC" }],
    ["no time of day for a cutoff", "date,amount\n", "cutoff_invalid", { cutoff: "4" }],
    ["a delimiter that is a quote", "date,amount\n", "delimiter_invalid", { delimiter: '"' }],
    [
      "a date format without a month",
      "date,amount\n",
      "date_format_invalid",
      { date: { column: "date", format: "dd/mm/yyyy" } },
    ],
    ["an unknown restaurant that is not to be made", "date,amount\n", "restaurant_unknown", { create: false }],
  ])("refuses %s and records nothing", async (_, content, code, options) => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const file = await folder.write("x.csv", content);
    await expect(importNew(test.database, optionsOf(file, options))).rejects.toMatchObject({
      name: "ImportFault",
      code,
    });
    expect(await rowCounts(test.database)).toEqual(nothing);
  });

  it.each(["no-such-file.csv", "."])("says that %s cannot be read", async (name) => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await expect(importNew(test.database, optionsOf(folder.path(name)))).rejects.toMatchObject({
      code: "file_unreadable",
    });
  });
});

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
});
