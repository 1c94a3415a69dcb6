/**
 * Small files in the shapes that people have, each with what it must come to, worked out apart from the product; or with the refusal that it
 * must meet, whose own advice leads there.
 */
import { join } from "node:path";
import { type ImportOptions, importSales } from "@nightwriter/sales";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { optionsOf, refusal } from "./fixture.ts";

interface Case {
  /** Of test/sales/field. */
  readonly file: string;
  readonly options?: Partial<ImportOptions>;
  /** By restaurant, in minor units. */
  readonly total?: Readonly<Record<string, number>>;
  /** By business date, in minor units. */
  readonly dates?: Readonly<Record<string, number>>;
  /** What the message says. */
  readonly refused?: RegExp;
}

const minutes = { date: { column: "date", format: "yyyy-MM-dd HH:mm" } };
const all = { soho: 2_950 };

const cases: readonly Case[] = [
  { file: "malformed-title-lines.csv", refused: /has no column "date"/ },
  { file: "malformed-title-lines.csv", options: { titleLines: 3 }, total: all },
  { file: "malformed-total-line.csv", refused: /line 6, column date: "Total" is no date/ },
  { file: "malformed-total-line.csv", options: { except: [{ column: "date", value: "Total" }] }, total: all },
  { file: "malformed-blank-comma-rows.csv", total: all },
  { file: "malformed-ctrl-z.csv", total: all },
  { file: "malformed-sep-line.csv", total: all },
  { file: "malformed-four-decimals.csv", total: all },
  {
    file: "malformed-rupees.csv",
    options: { currency: "INR", zone: "Asia/Kolkata" },
    total: { soho: 24_781_200 },
  },
  { file: "malformed-vtab-in-number.csv", refused: /line 2, column amount: "1\\n234\.00" is no number/ },
  {
    file: "signs-of-other-currencies.csv",
    refused: /2 bad lines, the first is line 2, column amount: "€100\.00" is in €/,
  },
  {
    file: "zero-before-comma.csv",
    options: { amount: { quantityColumn: "qty", priceColumn: "price" } },
    refused: /line 2, column qty: "0,500" is no number \(for a decimal comma say --decimal-comma\)/,
  },
  {
    file: "zero-before-comma.csv",
    options: { amount: { quantityColumn: "qty", priceColumn: "price" }, decimalComma: ["qty"] },
    total: { soho: 1_800 },
  },
  {
    file: "shape-french-bakery.csv",
    options: {
      date: { column: "date", format: "yyyy-MM-dd" },
      amount: { quantityColumn: "Quantity", priceColumn: "unit_price" },
      decimalComma: ["unit_price"],
      currency: "EUR",
      zone: "Europe/Paris",
    },
    total: { soho: -780 },
  },
  {
    file: "literal-z.csv",
    options: { date: { column: "created", format: "yyyy-MM-dd'T'HH:mm:ss'Z'" } },
    refused: /write X for an offset or a Z/,
  },
  {
    file: "literal-z.csv",
    options: { date: { column: "created", format: "yyyy-MM-dd'T'HH:mm:ssX" }, zone: "America/Los_Angeles" },
    total: { soho: 5_000 },
    dates: { "2024-01-05": 2_000, "2024-01-06": 3_000 },
  },
  {
    file: "epoch-seconds.csv",
    options: { date: { column: "ts", format: "T" } },
    refused: /line 2, column ts: "1704450000" is no date as T, .*seconds are t/,
  },
  {
    file: "epoch-seconds.csv",
    options: { date: { column: "ts", format: "t" } },
    total: { soho: 2_100 },
    dates: { "2024-01-05": 1_000, "2024-01-06": 1_100 },
  },
  {
    file: "lost-zero-ddMMyy.csv",
    options: { date: { column: "date", format: "ddMMyy" } },
    refused: /2 bad lines, the first is line 2, column date: "10124" is no date/,
  },
  {
    file: "date-and-time.csv",
    options: { date: { column: "date", timeColumn: "time", format: "yyyy-MM-dd HH:mm" }, cutoff: "04:00" },
    total: { soho: 300 },
    dates: { "2024-01-05": 300 },
  },
  {
    file: "date-and-time.csv",
    options: { date: { on: Temporal.PlainDate.from("2024-01-09") } },
    total: { soho: 300 },
    dates: { "2024-01-09": 300 },
  },
  {
    file: "currency-column.csv",
    options: { currencyColumn: "currency" },
    refused: /2 bad lines, the first is line 3, column currency: "EUR" is not the currency of "soho", which is GBP/,
  },
  {
    file: "two-countries.csv",
    options: { restaurant: { column: "store" }, zoneColumn: "zone", currencyColumn: "currency" },
    total: { London: 100, Paris: 100 },
  },
  {
    file: "shape-german-till-cp1252.csv",
    options: {
      titleLines: 3,
      encoding: "latin-1",
      delimiter: ";",
      decimalComma: true,
      date: { column: "Datum", timeColumn: "Uhrzeit", format: "dd.MM.yyyy HH:mm" },
      amount: { column: "Betrag" },
      except: [{ column: "Datum", value: "Summe" }],
      currency: "EUR",
      zone: "Europe/Berlin",
    },
    total: { soho: 123_100 },
  },
  {
    file: "shape-doordash-status-currency.csv",
    options: {
      restaurant: { column: "Store Name" },
      date: { column: "Order Received Local Time", format: "yyyy-MM-dd HH:mm:ss.SSS" },
      amount: { column: "Subtotal" },
      only: [{ column: "Order Status", value: "Delivered" }],
      currencyColumn: "Currency",
      zone: "America/Los_Angeles",
    },
    total: { "Mission St": 2_450 },
  },
  { file: "malformed-zip.zip", total: all },
  { file: "malformed-utf16le-nobom.csv", total: all },
  { file: "malformed-jsonl.csv", refused: /is JSON and no CSV/ },
  { file: "malformed-html-login.csv", refused: /is a web page and no CSV/ },
  { file: "malformed-no-header.csv", refused: /its first line looks like a sale: put a line with the names/ },
  { file: "malformed-dup-header.csv", refused: /has 2 columns "amount"; say which, as "amount#1" or "amount#2"/ },
  { file: "malformed-dup-header.csv", options: { amount: { column: "amount#2" } }, total: all },
  { file: "malformed-header-linebreak.csv", options: { amount: { column: "Gross Sales" } }, total: { soho: 100 } },
  {
    file: "utf8-name.csv",
    options: { restaurant: { column: "store" }, date: { column: "date", format: "yyyy-MM-dd" }, encoding: "latin-1" },
    refused: /is UTF-8, by its bytes; leave --encoding out/,
  },
  {
    file: "utf8-name.csv",
    options: { restaurant: { column: "store" }, date: { column: "date", format: "yyyy-MM-dd" } },
    total: { "Café Nord": 100 },
  },
  { file: "shifted-row.csv", refused: /line 3: has 7 fields, the header has 6/ },
  {
    file: "unquoted-thousands.csv",
    refused: /line 2: the amount "1" has no decimals, .* and "234\.50" follows it: one number that lost its quotes/,
  },
  {
    file: "inch-mark.csv",
    refused: /line 2: a quote that is not doubled makes one field of it and line 3, which is a record/,
  },
  { file: "cr-only.csv", total: { soho: 2_100 } },
  {
    file: "shape-petpooja-title-lines-lakh.csv",
    options: {
      titleLines: 3,
      date: { column: "Date", format: "yyyy-MM-dd HH:mm:ss" },
      amount: { column: "Grand Total (₹)" },
      only: [{ column: "Status", value: "Success" }],
      currency: "INR",
      zone: "Asia/Kolkata",
    },
    total: { soho: 12_647_250 },
  },
  {
    file: "shape-toast-orderdetails.csv",
    options: {
      restaurant: { column: "Location" },
      date: { column: "Opened", format: "M/d/yy h:mm a" },
      amount: { column: "Total" },
      except: [{ column: "Voided", value: "true" }],
      currency: "USD",
      zone: "America/New_York",
    },
    total: { Harbour: 4_002 },
  },
];

async function totals({ db }: TestDatabase, by: "restaurant_id" | "business_date"): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; total: string }>`
    select ${sql.ref(by)}::text as name, sum(amount_minor)::text as total from sales.sale group by 1 order by 1`.execute(
    db,
  );
  return Object.fromEntries(rows.map(({ name, total }) => [name, Number(total)]));
}

describe.each(cases)("$file", ({ file, options = {}, total, dates = {}, refused }) => {
  it("comes to the right total, or is refused", async () => {
    await using test = await testDatabase();
    const given = optionsOf(join(import.meta.dirname, "field", file), { ...minutes, ...options });
    expect(await refusal(importSales(test.database, given))).toMatch(refused ?? /^$/);
    expect(await totals(test, "restaurant_id")).toEqual(total ?? {});
    expect(await totals(test, "business_date")).toMatchObject(dates);
  });
});
