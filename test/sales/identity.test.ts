/**
 * Sales that come again: in another order, in a window that has moved, corrected. Files of test/sales/field, each with the total that it must
 * come to, computed apart from the product.
 */
import { join } from "node:path";
import { importSales } from "@nightwriter/sales";
import type { Acceptance } from "@nightwriter/sales/acceptances";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type Folder, importNew, optionsOf, temporaryFolder } from "./fixture.ts";

type Options = Parameters<typeof optionsOf>[1];

const field = (name: string): string => join(import.meta.dirname, "field", `${name}.csv`);
const meant = (...options: readonly Acceptance[]): ReadonlySet<Acceptance> => new Set(options);

/** A shop's export: newest first, the last weeks of it each time. */
const shop: Options = {
  date: { column: "Created at", format: "yyyy-MM-dd HH:mm:ss xx" },
  amount: { column: "Total" },
};
const byName: Options = { ...shop, idColumns: ["Name"] };

/** What all sales come to, in minor units, and how many rows there are. */
async function told({ db }: TestDatabase): Promise<{ total: number; rows: number }> {
  const { rows } = await sql<{ total: string; rows: bigint }>`
    select coalesce(sum(amount_minor), 0)::text as total, count(*) as rows from sales.sale`.execute(db);
  return { total: Number(rows[0]?.total), rows: Number(rows[0]?.rows) };
}

/** Every sale with an id is what its rows come to. */
async function unequal({ db }: TestDatabase): Promise<unknown[]> {
  const { rows } = await sql`
    select hash from (select distinct on (hash) * from sales.identity order by hash, import_id desc) as now
    where amount_minor is distinct from (
      select sum(amount_minor) from sales.sale
      where (coalesce(first_date, business_date), coalesce(first_source, source), coalesce(first_line, source_line))
        = (now.first_date, now.first_source, now.first_line))`.execute(db);
  return rows;
}

async function lines(folder: Folder, name: string, ...rows: readonly string[]): Promise<string> {
  return folder.write(name, `date,amount,id\n${rows.join("\n")}\n`);
}

describe("an export with an id for each sale", () => {
  it("counts each sale once, however windows overlap, and corrects what has changed", async () => {
    await using test = await testDatabase();
    const [a, b, c] = ["rolling-a", "rolling-b", "rolling-c-corrected"].map((name) =>
      optionsOf(field(name), byName),
    ) as [ReturnType<typeof optionsOf>, ReturnType<typeof optionsOf>, ReturnType<typeof optionsOf>];
    expect(await importNew(test.database, a)).toMatchObject({ lines: 33, knownLines: 0, corrected: 0 });
    const second = await importNew(test.database, b);
    expect(second).toMatchObject({ lines: 4, corrected: 0 });
    expect(second.knownLines).toBeGreaterThan(20);
    expect(await told(test)).toEqual({ total: 244_687, rows: 37 });
    const third = await importNew(test.database, c);
    expect(third).toMatchObject({ lines: 0, corrected: 1 });
    expect(third.sums).toEqual(new Map([["GBP", -350n]]));
    expect(await told(test)).toEqual({ total: 244_337, rows: 38 });
    expect(await importSales(test.database, c)).toMatchObject({ outcome: "duplicate" });
    expect(await unequal(test)).toEqual([]);
    // An older window says what was true before.
    const again = { ...b, file: field("rolling-b"), feed: "" };
    expect(await importSales(test.database, again)).toMatchObject({ outcome: "duplicate" });
  });

  it("moves a sale to another date by two rows, and knows it there", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = { idColumns: ["id"], date: { column: "date", format: "yyyy-MM-dd HH:mm" } };
    await importNew(
      test.database,
      optionsOf(await lines(folder, "a.csv", "2026-03-05 12:00,10.00,1", "2026-03-05 13:00,20.00,2"), options),
    );
    const moved = await importNew(
      test.database,
      optionsOf(await lines(folder, "b.csv", "2026-03-06 01:00,20.00,2", "2026-03-05 12:00,11.00,1"), options),
    );
    expect(moved).toMatchObject({ lines: 0, knownLines: 0, corrected: 2 });
    expect(moved.businessDates.map(String)).toEqual(["2026-03-05", "2026-03-06"]);
    const { rows } =
      await sql`select business_date, sum(amount_minor)::int as sum from sales.sale group by 1 order by 1`.execute(
        test.db,
      );
    expect(rows).toEqual([
      { business_date: "2026-03-05", sum: 1_100 },
      { business_date: "2026-03-06", sum: 2_000 },
    ]);
    const same = await importNew(
      test.database,
      optionsOf(await lines(folder, "c.csv", "2026-03-05 12:00,11.00,1", "2026-03-06 01:00,20.00, 2 "), options),
    );
    expect(same).toMatchObject({ lines: 0, knownLines: 2, corrected: 0 });
    expect(await unequal(test)).toEqual([]);
    const needs = await sql`select count(*)::int as count from sales.import_need`.execute(test.db);
    expect(needs.rows).toEqual([{ count: 3 }]);
  });

  it("asks before ids of other columns count everything again", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const order = { idColumns: ["id"] };
    const rows = ["05/03/2026 12:00,10.00,1", "05/03/2026 13:00,20.00,2"];
    await importNew(test.database, optionsOf(await lines(folder, "a.csv", ...rows), order));
    const other = optionsOf(await lines(folder, "b.csv", ...rows.toReversed()), { idColumns: ["id", "amount"] });
    await expect(importSales(test.database, other)).rejects.toThrow(
      /^b\.csv: its ids are made of "id" and "amount", those of a\.csv \(import \d+\) of "id": sales that both have would count twice; .*--source, or --all-new/,
    );
    expect(await importNew(test.database, { ...other, idColumns: [" ID "] })).toMatchObject({
      lines: 0,
      knownLines: 2,
    });
    const till = { ...other, feed: "till", file: await lines(folder, "c.csv", "06/03/2026 12:00,1.00,1") };
    expect(await importNew(test.database, till)).toMatchObject({ lines: 1 });
  });

  it("asks before an older export sets newer sales back", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = { idColumns: ["id"], date: { column: "date", format: "yyyy-MM-dd HH:mm" } };
    await importNew(
      test.database,
      optionsOf(await lines(folder, "new.csv", "2026-03-05 12:00,9.00,1", "2026-03-07 12:00,20.00,2"), options),
    );
    const older = optionsOf(await lines(folder, "old.csv", "2026-03-05 12:00,10.00,1"), options);
    await expect(importSales(test.database, older)).rejects.toMatchObject({
      code: "in_doubt",
      message: expect.stringMatching(/^old\.csv: would set 1 sales back .* new\.csv, .*nothing was recorded.*--older/),
    });
    expect(await importNew(test.database, { ...older, accept: meant("older") })).toMatchObject({ corrected: 1 });
    expect(await told(test)).toMatchObject({ total: 3_000 });
  });

  it("refuses an id that comes twice, unless its lines repeat one amount and that is said", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const orders = optionsOf(field("order-total-repeated"), {
      idColumns: ["order"],
      date: { column: "date", format: "yyyy-MM-dd HH:mm" },
      amount: { column: "order_total" },
    });
    await expect(importSales(test.database, orders)).rejects.toMatchObject({
      code: "in_doubt",
      message: expect.stringContaining("--once-per-id"),
    });
    expect(await importNew(test.database, { ...orders, accept: meant("once-per-id") })).toMatchObject({ corrected: 0 });
    expect(await told(test)).toMatchObject({ total: 3_800 });
    const differing = optionsOf(
      await lines(folder, "parts.csv", "2026-04-05 12:00,1.00,7", "2026-04-05 12:00,2.00,7"),
      {
        idColumns: ["id"],
        date: { column: "date", format: "yyyy-MM-dd HH:mm" },
        accept: meant("once-per-id"),
      },
    );
    await expect(importSales(test.database, differing)).rejects.toMatchObject({
      message: expect.stringMatching(/line 2, with different amounts .*a second --id-column/),
    });
  });

  it("is a bad line where the id is empty", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = { idColumns: ["id"], date: { column: "date", format: "yyyy-MM-dd HH:mm" } };
    const file = await lines(folder, "a.csv", "2026-03-05 12:00,1.00,1", "2026-03-05 12:00,1.00, ");
    await expect(importSales(test.database, optionsOf(file, options))).rejects.toMatchObject({
      badLines: [{ line: 3, column: "id", reason: "is empty, and is the sale's id" }],
    });
  });

  it("adopts what was recorded without ids, and asks where few lines are like it", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const date = { column: "date", format: "yyyy-MM-dd HH:mm" };
    const day = Array.from({ length: 6 }, (_, n) => `2026-03-05 1${n}:00,${n + 1}.00,${n}`);
    await importNew(test.database, optionsOf(await lines(folder, "plain.csv", ...day), { date }));
    const withIds = optionsOf(await lines(folder, "ids.csv", ...day.toReversed(), "2026-03-05 19:00,50.00,9"), {
      date,
      idColumns: ["id"],
    });
    expect(await importNew(test.database, withIds)).toMatchObject({ lines: 1, knownLines: 6, adopted: 6 });
    expect(await told(test)).toEqual({ total: 7_100, rows: 7 });
    const corrected = await lines(
      folder,
      "later.csv",
      "2026-03-05 10:00,1.50,0",
      "2026-03-05 19:00,50.00,9",
      "2026-03-06 09:00,1.00,10",
    );
    expect(await importNew(test.database, optionsOf(corrected, { date, idColumns: ["id"] }))).toMatchObject({
      lines: 1,
      corrected: 1,
    });
    expect(await told(test)).toMatchObject({ total: 7_250 });
    expect(await unequal(test)).toEqual([]);

    await importNew(
      test.database,
      optionsOf(
        await lines(
          folder,
          "april.csv",
          "2026-04-05 10:00,1.00,0",
          "2026-04-05 11:00,2.00,1",
          "2026-04-05 12:00,3.00,2",
        ),
        { date },
      ),
    );
    const few = optionsOf(
      await lines(folder, "few.csv", "2026-04-05 10:00,1.00,a", "2026-04-05 15:00,7.00,b", "2026-04-05 16:00,8.00,c"),
      { date, idColumns: ["id"] },
    );
    await expect(importSales(test.database, few)).rejects.toMatchObject({
      code: "in_doubt",
      message: expect.stringMatching(/soho 2026-04-05: 1 of 3.*--adopt .*--all-new/),
    });
    expect(await importNew(test.database, { ...few, accept: meant("adopt") })).toMatchObject({ lines: 2, adopted: 1 });
  });
});

describe("an export without ids", () => {
  it.each([
    ["newest-first-day1", "newest-first-day2", { date: { column: "date", format: "yyyy-MM-dd HH:mm" } }, 10_000],
    ["rolling-a", "rolling-b", shop, 244_687],
  ] as const)(
    "%s, then %s: is refused where it overlaps, and with --only-new counts what is new",
    async (...[first, second, options, total]) => {
      await using test = await testDatabase();
      await importNew(test.database, optionsOf(field(first), options));
      const before = await told(test);
      const again = optionsOf(field(second), options);
      await expect(importSales(test.database, again)).rejects.toMatchObject({
        code: "in_doubt",
        message: expect.stringMatching(
          /look like sales that were recorded before; nothing was recorded\. .*--id-column.*--only-new.*--allow-overlap/,
        ),
      });
      expect(await told(test)).toEqual(before);
      const { lines: added, knownLines } = await importNew(test.database, { ...again, accept: meant("only-new") });
      expect(added).toBeGreaterThan(0);
      expect(knownLines).toBeGreaterThan(0);
      expect((await told(test)).total).toBe(total);
    },
  );

  it("keeps two sales that are alike within one file, and takes each recorded one for one line at most", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = { date: { column: "date", format: "yyyy-MM-dd HH:mm" } };
    const twice = ["2026-03-05 12:00,3.00,", "2026-03-05 12:00,3.00,"];
    await importNew(test.database, optionsOf(await lines(folder, "a.csv", ...twice), options));
    const thrice = optionsOf(
      await lines(folder, "b.csv", "2026-03-05 18:00,9.00,", ...twice, "2026-03-05 12:00,3.00,"),
      options,
    );
    expect(await importNew(test.database, { ...thrice, accept: meant("only-new") })).toMatchObject({
      lines: 2,
      knownLines: 2,
    });
    expect(await told(test)).toEqual({ total: 1_800, rows: 4 });
  });

  it("is another file where it merely begins like one, and is asked about a line that stands in both", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = { date: { column: "date", format: "yyyy-MM-dd HH:mm" } };
    await importNew(
      test.database,
      optionsOf(await lines(folder, "x.csv", "2026-03-01 12:00,1.00,", "2026-03-02 12:00,2.00,"), options),
    );
    const other = ["2026-03-01 12:00,1.00,", "2026-03-05 12:00,5.00,", "2026-03-06 12:00,6.00,"];
    const another = optionsOf(await lines(folder, "y.csv", ...other), options);
    await expect(importSales(test.database, another)).rejects.toThrow(
      "1 of 1 lines (soho 2026-03-01: 1 of 1) look like",
    );
    expect(await importNew(test.database, { ...another, accept: meant("allow-overlap") })).toMatchObject({ lines: 3 });
  });

  it("of two tills with one first line is asked about, and counts both where they are named", async () => {
    const date = { column: "date", format: "yyyy-MM-dd HH:mm" };
    {
      await using test = await testDatabase();
      await importNew(test.database, optionsOf(field("two-tills-a"), { date }));
      await expect(importSales(test.database, optionsOf(field("two-tills-b"), { date }))).rejects.toMatchObject({
        code: "in_doubt",
        message: expect.stringMatching(/begins with the only line of two-tills-a\.csv.*--source.*--grown/),
      });
    }
    await using test = await testDatabase();
    await importNew(test.database, optionsOf(field("two-tills-a"), { date, feed: "till a" }));
    await importNew(test.database, optionsOf(field("two-tills-b"), { date, feed: "till b" }));
    expect((await told(test)).total).toBe(1_700);
  });
});
