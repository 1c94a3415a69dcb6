import { gzipSync } from "node:zlib";
import type { ImportFaultCode, ImportOptions } from "@nightwriter/sales";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import iconv from "iconv-lite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importNew, optionsOf, rowCounts, saleLines, sales, temporaryFolder } from "./fixture.ts";

let test: TestDatabase;
let restaurants = 0;

beforeAll(async () => {
  test = await testDatabase();
});
afterAll(async () => test[Symbol.asyncDispose]());

/** Imports a file for a restaurant of its own and answers its sales as "line date minor". */
async function linesOf(content: string | Buffer, options: Partial<ImportOptions> = {}): Promise<string[]> {
  await using folder = await temporaryFolder();
  const id = `r${++restaurants}`;
  const file = await folder.write("x.csv", content);
  // What begins alike is not at issue here.
  await importNew(
    test.database,
    optionsOf(file, { restaurant: { id }, accept: new Set(["allow-overlap", "same-sales"] as const), ...options }),
  );
  return await saleLines(test.database, id);
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

  it.each([
    ["little end first", "utf16le", Buffer.from([0xff, 0xfe])],
    ["little end first, without a mark", "utf16le", Buffer.alloc(0)],
    ["big end first", "utf-16be", Buffer.from([0xfe, 0xff])],
    ["big end first, without a mark", "utf-16be", Buffer.alloc(0)],
  ] as const)("reads UTF-16, %s, longer than a piece", async (_, encoding, mark) => {
    const rows = "01/03/2026 12:00,1.00,Zoë\n".repeat(9_000);
    const lines = await linesOf(Buffer.concat([mark, iconv.encode(`date,amount,note\n${rows}`, encoding)]));
    expect(lines).toHaveLength(9_000);
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

  it("takes the cutoff off a time in a format of the locale", async () => {
    const content = 'date,amount\n"01/05/2024, 1:30 AM",1\n';
    const date = { column: "date", format: "Pp" };
    expect(await linesOf(content, { date, cutoff: "04:00" })).toEqual(["2 2024-01-04 100"]);
  });

  it.each([
    { format: "T", text: "1704450000", meant: "t" },
    { format: "t", text: "1704450000000", meant: "T" },
  ])("says that $text is read by $meant, not by $format", async ({ format, text, meant }) => {
    const content = `date,amount\n${text},1\n`;
    const refused = linesOf(content, { date: { column: "date", format } });
    await expect(refused).rejects.toThrow(`seconds are ${meant})`);
    expect(await linesOf(content, { date: { column: "date", format: meant } })).toEqual(["2 2024-01-05 100"]);
  });

  it("escapes what COPY would take for its own", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const names = [
      "back\\slash\\n",
      "bell\u0007here",
      "\\.",
      "\\N",
      "Zoë's",
      "tab\there",
      " two\nlines ",
      "Cafe\u0301",
    ];
    const lines = names.map((name) => `01/03/2026 12:00,1,"${name}"`);
    const file = await folder.write("x.csv", `date,amount,city\n${lines.join("\n")}\n`);
    await importNew(test.database, optionsOf(file, { restaurant: { column: "city" } }));
    // Blanks in an id are one space each, and accents are written in one way.
    const ids = [...names.slice(0, 5), "tab here", "two lines", "Café"];
    expect((await sales(test.database)).map((sale) => sale.restaurant)).toEqual(ids);
  });

  it("records nothing of a file that has a header only, and does not remember it", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const file = await folder.write("x.csv", "date,amount\n");
    expect(await importNew(test.database, optionsOf(file))).toMatchObject({ lines: 0, businessDates: [] });
    expect(await rowCounts(test.database)).toMatchObject({ sales: 0, files: 0 });
  });

  it.each<{ what: string; content?: string | Buffer; code: ImportFaultCode; options?: Partial<ImportOptions> }>([
    { what: "an empty file", content: "", code: "file_empty" },
    { what: "blank lines only", content: "\n\n", code: "file_empty" },
    { what: "a workbook's zip", content: Buffer.from("PK\u0003\u0004 but no zip"), code: "file_unreadable" },
    { what: "a PDF", content: "%PDF-1.7\n", code: "file_unreadable" },
    { what: "XML", content: '<?xml version="1.0"?>\n<sales/>\n', code: "file_unreadable" },
    {
      what: "a broken gzip file",
      content: gzipSync("date,amount\n".repeat(1_000)).subarray(0, 30),
      code: "file_unreadable",
    },
    { what: "a missing column", content: "date,price\n", code: "column_missing" },
    { what: "a line of megabytes", content: `date,amount\n${"x".repeat(3_000_000)}\n`, code: "line_too_long" },
    { what: "an unknown zone", code: "zone_unknown", options: { zone: "Europe/Soho" } },
    { what: "an offset for a zone", code: "zone_unknown", options: { zone: "+01:00" } },
    { what: "an unknown currency", code: "currency_unknown", options: { currency: "ABC" } },
    { what: "no time of day for a cutoff", code: "cutoff_invalid", options: { cutoff: "4" } },
    { what: "a delimiter that is a quote", code: "delimiter_invalid", options: { delimiter: '"' } },
    {
      what: "a date format without a month",
      code: "date_format_invalid",
      options: { date: { column: "date", format: "dd/mm/yyyy" } },
    },
    { what: "an unknown restaurant that is not to be made", code: "restaurant_unknown", options: { create: false } },
  ])("refuses $what and records nothing", async ({ content = "date,amount\n", code, options }) => {
    await using folder = await temporaryFolder();
    const before = await rowCounts(test.database);
    const refused = importNew(test.database, optionsOf(await folder.write("x.csv", content), options));
    await expect(refused).rejects.toMatchObject({ name: "ImportFault", code });
    expect(await rowCounts(test.database)).toEqual(before);
  });

  it.each(["no-such-file.csv", "."])("says that %s cannot be read", async (name) => {
    await using folder = await temporaryFolder();
    await expect(importNew(test.database, optionsOf(folder.path(name)))).rejects.toMatchObject({
      code: "file_unreadable",
    });
  });
});
