/**
 * Small files in the shapes that people have, each with what it must come to, worked out apart from the product; or with the refusal that it
 * must meet, whose own advice leads there.
 */
import { join } from "node:path";
import { type ImportOptions, importSales } from "@nightwriter/sales";
import { testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { optionsOf, refusal } from "./fixture.ts";

interface Case {
  /** Of test/sales/field. */
  readonly file: string;
  readonly options?: Partial<ImportOptions>;
  /** By restaurant, in minor units. */
  readonly total?: Readonly<Record<string, number>>;
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

async function totals({ db }: Awaited<ReturnType<typeof testDatabase>>): Promise<Record<string, number>> {
  const { rows } = await sql<{ id: string; total: string }>`
    select restaurant_id as id, sum(amount_minor)::text as total from sales.sale group by 1 order by 1`.execute(db);
  return Object.fromEntries(rows.map(({ id, total }) => [id, Number(total)]));
}

describe.each(cases)("$file", ({ file, options = {}, total, refused }) => {
  it("comes to the right total, or is refused", async () => {
    await using test = await testDatabase();
    const given = optionsOf(join(import.meta.dirname, "field", file), { ...minutes, ...options });
    expect(await refusal(importSales(test.database, given))).toMatch(refused ?? /^$/);
    expect(await totals(test)).toEqual(total ?? {});
  });
});
