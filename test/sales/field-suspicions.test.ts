/** Files that look as if something about them were not meant: refused, with a way out that leads to the right total, or warned of. */
import { join } from "node:path";
import { type ImportOptions, importSales } from "@nightwriter/sales";
import { undoImport } from "@nightwriter/sales/imports";
import { testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { importNew, optionsOf, refusal, temporaryFolder, total } from "./fixture.ts";

const field = (name: string): string => join(import.meta.dirname, "field", name);
const minutes = { date: { column: "date", format: "yyyy-MM-dd HH:mm" } } as const;
const days = { date: { column: "date", format: "yyyy-MM-dd" } } as const;

describe("grand-total-row.csv", () => {
  const options = optionsOf(field("grand-total-row.csv"), { ...days, restaurant: { column: "store" } });

  it("is refused, and comes to 50.00 of two restaurants as the refusal advises", async () => {
    await using test = await testDatabase();
    const refused = await refusal(importSales(test.database, options));
    expect(refused).toMatch(/^grand-total-row\.csv: line 4 is the sum of 2 others, as a total is/);
    const [column = "", value = ""] = (/--except "([^"]+)"/.exec(refused)?.[1] ?? "").split("=");
    const { restaurantsCreated } = await importNew(test.database, { ...options, except: [{ column, value }] });
    expect([await total(test), restaurantsCreated]).toEqual([5_000, 2]);
  });

  it("is recorded whole if that is meant", async () => {
    await using test = await testDatabase();
    await importNew(test.database, { ...options, accept: new Set(["sums-ok"]) });
    expect(await total(test)).toBe(10_000);
  });
});

describe("future-date.csv", () => {
  it("is recorded with a warning", async () => {
    await using test = await testDatabase();
    const { warnings } = await importNew(test.database, optionsOf(field("future-date.csv"), minutes));
    expect(warnings).toEqual(["line 3 has a date in the future"]);
    expect(await total(test)).toBe(2_100);
  });

  it("is refused where no date has come yet", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = optionsOf(
      await folder.write("x.csv", "date,amount\n2142-01-05 12:00,1\n2142-01-06 12:01,4\n"),
      minutes,
    );
    expect(await refusal(importSales(test.database, options))).toMatch(
      /^x\.csv: all its dates are in the future, the first in line 2; nothing was recorded\. .*--future-ok/,
    );
    const accept = new Set(["future-ok"] as const);
    const { warnings } = await importNew(test.database, { ...options, accept });
    expect(warnings).toEqual(["2 lines have dates in the future, the first is line 2"]);
  });
});

describe("status-column.csv", () => {
  const options = optionsOf(field("status-column.csv"), minutes);

  it("is warned of, and comes to 10.00 when the delivered ones are meant", async () => {
    await using test = await testDatabase();
    const { warnings } = await importNew(test.database, options);
    expect(warnings).toEqual([
      'column "status" is not used, and says "Delivered", "Cancelled", "Failed"; if some of these lines are no sales, leave them out with --only or --except',
    ]);
    await using other = await testDatabase();
    const only = [{ column: "status", value: "Delivered" }];
    const filtered = await importNew(other.database, { ...options, only });
    expect([filtered.warnings, await total(other)]).toEqual([[], 1_000]);
  });
});

describe("currency-column.csv", () => {
  it("comes to a total in each currency by three imports, a restaurant each", async () => {
    await using test = await testDatabase();
    const options = optionsOf(field("currency-column.csv"), minutes);
    for (const currency of ["GBP", "EUR", "INR"]) {
      const only = [{ column: "currency", value: currency }];
      const restaurant = { id: `soho ${currency.toLowerCase()}` };
      expect(await importNew(test.database, { ...options, restaurant, currency, only })).toMatchObject({
        lines: 1,
        warnings: [],
      });
    }
    const { rows } = await sql`select id, currency, sum(amount_minor)::text as sum from sales.sale
      join sales.restaurant on id = restaurant_id group by id order by id`.execute(test.db);
    expect(rows).toEqual([
      { id: "soho eur", currency: "EUR", sum: "10000" },
      { id: "soho gbp", currency: "GBP", sum: "10000" },
      { id: "soho inr", currency: "INR", sum: "200000" },
    ]);
  });
});

describe("what is warned of", () => {
  const warningsOf = async (content: string, options: Partial<ImportOptions>): Promise<readonly string[]> => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    return (await importNew(test.database, optionsOf(await folder.write("x.csv", content), options))).warnings;
  };

  it("is a column of times or currencies that no option names", async () => {
    const content = "date,amount,when,money\n2026-03-14,1,12:30,GBP\n2026-03-14,4,1:05,EUR\n";
    expect(await warningsOf(content, days)).toEqual([
      'column "when" is not used, and says "12:30", "1:05"; if it is the time of a sale, say --time-column; without one no cutoff applies',
      'column "money" is not used, and says "GBP", "EUR"; amounts in another currency are another restaurant\'s; say --currency-column, or import them apart, with --only',
    ]);
  });

  it("is a cutoff that no time of day meets", async () => {
    expect(await warningsOf("date,amount\n2026-03-14,1\n", { ...days, cutoff: "04:00" })).toEqual([
      'the date format has no time of day, so the cutoff of "soho" moves no sale to the date before',
    ]);
  });

  it("is a day and a month that may be the other way round, until a day shows which is which", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const write = async (name: string, ...lines: string[]) =>
      optionsOf(await folder.write(name, `date,amount\n${lines.join("\n")}\n`));
    const [open, shown, later] = [
      await write("1.csv", "03/01/2026 12:00,1", "04/02/2026 12:01,4"),
      await write("2.csv", "13/03/2026 12:00,16"),
      await write("3.csv", "01/04/2026 12:00,64"),
    ];
    const warning =
      'no day is past the twelfth; if day and month are the other way round, say --date-format "MM/dd/yyyy HH:mm"';
    expect((await importNew(test.database, open)).warnings).toEqual([warning]);
    expect((await importNew(test.database, shown)).warnings).toEqual([]);
    expect((await importNew(test.database, later)).warnings).toEqual([]);
  });
});

describe("restaurants", () => {
  const line = (id: string): string => `${id},14/03/2026 12:00,1\n`;
  const byColumn = { restaurant: { column: "city" } };

  it("that are nearly a known one are refused, whatever else is new", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const file = async (name: string, ...ids: string[]) =>
      optionsOf(await folder.write(name, `city,date,amount\n${ids.map(line).join("")}`), byColumn);
    const create = { accept: new Set(["create"] as const) };
    await importNew(test.database, await file("1.csv", "Soho", "Store 1", "Store 2"));
    for (const id of ["soho", "So ho", "Sohp", "Shoo"]) {
      expect(await refusal(importSales(test.database, { ...(await file("2.csv", "Store 3", id)), ...create }))).toBe(
        `2.csv: restaurant "${id}" is not known, and is nearly "Soho"; nothing was recorded. write it as "Soho", or --similar-ok (restaurants whose names are nearly the same are different ones)`,
      );
    }
    const meant = { accept: new Set(["create", "similar-ok"] as const) };
    const both = await file("3.csv", "Leeds", "Leedss");
    expect(await refusal(importSales(test.database, { ...both, ...create }))).toMatch(
      /"Leedss" is not .* nearly "Leeds"/,
    );
    expect(await importNew(test.database, { ...both, ...meant })).toMatchObject({ restaurantsCreated: 2 });
  });

  it("that are new are asked about once there are some", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const first = await folder.write("1.csv", `city,date,amount\n${line("Soho")}${line("Camden")}`);
    expect(await importNew(test.database, optionsOf(first, byColumn))).toMatchObject({ restaurantsCreated: 2 });
    const next = optionsOf(await folder.write("2.csv", "date,amount\n15/03/2026 12:00,1\n"), {
      restaurant: { id: "Leeds" },
    });
    expect(await refusal(importSales(test.database, { ...next, accept: new Set() }))).toMatch(
      /^2\.csv: restaurant "Leeds": not known, .*--create/,
    );
    await importNew(test.database, { ...next, accept: new Set(["create"]) });
    expect(await total(test)).toBe(300);
  });

  it("do not have the same sales as another, unless it is said, or these were taken back", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const sold = ["12:00,1", "12:01,2", "12:01,2", "12:07,4"].map((each) => `14/03/2026 ${each}\n`);
    const write = async (name: string, head: string, lines: readonly string[]) =>
      optionsOf(await folder.write(name, `${head}\n${lines.join("")}`), { accept: new Set(["create"]) });
    const { id = 0n } = await importNew(test.database, await write("1.csv", "date,amount", sold));
    const camden = { restaurant: { id: "camden" } };
    const again = { ...(await write("2.csv", "Date,Amount", sold.toReversed())), ...camden };
    expect(await refusal(importSales(test.database, again))).toMatch(
      /^2\.csv: restaurant "soho" has the same sales as these of "camden", the first 4 .*--same-sales/,
    );
    // Two of three are known, once each.
    const other = ["12:01,2", "12:01,2", "12:01,2"].map((each) => `14/03/2026 ${each}\n`);
    await importNew(test.database, { ...(await write("3.csv", "date,amount", other)), ...camden });
    await undoImport(test.database, { id, actor: { name: "ann", host: "laptop" }, reason: "another's" });
    await importNew(test.database, { ...again, restaurant: { id: "leeds" } });
    expect(await total(test)).toBe(1_500);
  });
});
