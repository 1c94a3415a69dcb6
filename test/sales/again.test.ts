/** The same file again: mended, written on, read in another way. Each refusal's own advice leads to the right total. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { importSales } from "@nightwriter/sales";
import { testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { importNew, optionsOf, refusal, saleLines, temporaryFolder, total } from "./fixture.ts";

const minutes = { date: { column: "date", format: "yyyy-MM-dd HH:mm" } };
const field = (name: string): string => join(import.meta.dirname, "field", name);
const header = "date,amount\n";

describe("a file whose bad lines were mended", () => {
  it("adds them only, under any name, and answers how many were left out before", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const before = optionsOf(field("mend-before.csv"), { ...minutes, skipBad: folder.path("bad.csv") });
    expect(await importNew(test.database, before)).toMatchObject({ lines: 99, skipped: 1 });
    expect(await total(test)).toBe(504_000);
    const again = await importSales(test.database, before);
    expect(again).toMatchObject({ outcome: "duplicate", skipped: 1, skipFile: folder.path("bad.csv") });
    const mended = optionsOf(field("mend-after.csv"), minutes);
    expect(await importNew(test.database, mended)).toMatchObject({ lines: 1, knownLines: 99 });
    expect(await total(test)).toBe(505_000);
    expect(await importSales(test.database, mended)).toMatchObject({ outcome: "duplicate", skipped: 0 });
  });

  it("may be mended line by line, and grow meanwhile", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const write = async (...lines: string[]) => {
      const rows = lines.map((amount, index) => `0${index + 1}/03/2026 12:00,${amount}\n`);
      return optionsOf(await folder.write("x.csv", header + rows.join("")));
    };
    let count = 0;
    const skipping = () => ({ skipBad: folder.path(`bad-${(count += 1)}.csv`) });
    const told: unknown[] = [];
    for (const lines of [
      ["1", "x", "4", "y"],
      ["1", "x", "4", "y", "16"],
      ["1", "2", "4", "y", "16", "z"],
      ["1", "2", "4", "8", "16", "32", "64"],
    ]) {
      const { lines: added, skipped } = await importNew(test.database, { ...(await write(...lines)), ...skipping() });
      told.push([added, skipped, await total(test)]);
    }
    expect(told).toEqual([
      [2, 2, 500],
      [1, 0, 2_100],
      [1, 2, 2_300],
      [3, 0, 12_700],
    ]);
  });

  it("is asked about under another name if few lines tell that it is the same", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const one = await folder.write("till-1.csv", `${header}01/03/2026 12:00,1\n02/03/2026 12:00,x\n`);
    await importNew(test.database, optionsOf(one, { skipBad: folder.path("bad.csv") }));
    const other = optionsOf(await folder.write("till-2.csv", `${header}01/03/2026 12:00,1\n02/03/2026 12:00,2\n`));
    expect(await refusal(importSales(test.database, other))).toMatch(
      /^till-2\.csv: has 1 of the 2 lines of till-1\.csv, and may be that file, mended, or another one; .*--source, or --grown/,
    );
    const another = { ...other, feed: "till-2" };
    expect(await refusal(importSales(test.database, another))).toMatch(/look like sales that were recorded before/);
    await importNew(test.database, { ...another, accept: new Set(["allow-overlap"]) });
    expect(await total(test)).toBe(400);
    await importNew(test.database, { ...other, accept: new Set(["grown", "allow-overlap"]) });
    expect(await total(test)).toBe(600);
  });
});

describe("a file whose last line was half-written", () => {
  it.each(["without ids", "with ids"])("is corrected when the line is whole, %s", async (how) => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = { ...minutes, ...(how === "with ids" && { idColumns: ["item"] }) };
    const file = folder.path("half.csv");
    await copyFile(field("half-written.csv"), file);
    expect(await importNew(test.database, optionsOf(file, options))).toMatchObject({ lines: 2, endsLine: false });
    expect(await total(test)).toBe(1_100);
    const whole =
      "date,item,amount\n2024-01-05 12:00,Pie,10.00\n2024-01-05 12:01,Tea,12.50\n2024-01-05 12:02,Jam,1.00\n";
    const again = await importNew(test.database, optionsOf(await folder.write("half.csv", whole), options));
    expect(again).toMatchObject({ lines: 1, corrected: 1, knownLines: 1, endsLine: true });
    expect(await total(test)).toBe(2_350);
  });

  it("is corrected again and again, also to another date, restaurant or id", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const start = "amount,date,city,id\n";
    const options = {
      restaurant: { column: "city" },
      date: { column: "date", format: "yyyy-MM-dd" },
      idColumns: ["id"],
    };
    for (const line of ["1.00,2026-03-01,Soho,1", "1.00,2026-03-01,Soho,10", "1.00,2026-03-01,Soho,101\n"]) {
      await importNew(test.database, optionsOf(await folder.write("x.csv", start + line), options));
      expect(await total(test)).toBe(100);
    }
    // The sale of half an id is none: the whole one is another's.
    const next = `${start}1.00,2026-03-01,Soho,101\n2.00,2026-03-01,Soho,10\n4.00,2026-03-02,Soho,1\n`;
    await importNew(test.database, optionsOf(await folder.write("x.csv", next), options));
    expect(await total(test)).toBe(700);
    const plain = { restaurant: { column: "city" }, date: options.date };
    for (const line of ["8.00,2026-03-03,Soh", "8.00,2026-03-03,Soho"]) {
      await importNew(test.database, optionsOf(await folder.write("y.csv", `amount,date,city\n${line}`), plain));
    }
    expect(await total(test)).toBe(1_500);
    const { rows } =
      await sql`select restaurant_id, sum(amount_minor)::int as sum from sales.sale group by 1 order by 1`.execute(
        test.db,
      );
    expect(rows).toEqual([
      { restaurant_id: "Soh", sum: 0 },
      { restaurant_id: "Soho", sum: 1_500 },
    ]);
  });
});

describe("a file that is read in another way", () => {
  it("is refused with what differs, unless no line is kept by both", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const file = await folder.write(
      "x.csv",
      "date,net,total\n01/03/2026 12:00,1,1.20\n02/03/2026 12:00,2,\n03/03/2026 12:00,,4\n",
    );
    const net = optionsOf(file, { amount: { column: "net" }, skipBad: folder.path("a.csv") });
    await importNew(test.database, net);
    const gross = { ...net, amount: { column: "Total" }, skipBad: folder.path("b.csv") };
    expect(await refusal(importSales(test.database, gross))).toMatch(
      /^x\.csv: 1 of its lines was recorded on .* by import \d+, which read them in another way: --amount-column "net" then, "total" now; nothing was recorded\. .*nightwriter imports undo \d+$/,
    );
    expect(await total(test)).toBe(300);
    // Case and blanks do not make another column.
    const same = { ...net, amount: { column: " NET " }, skipBad: folder.path("c.csv") };
    expect(await importSales(test.database, same)).toMatchObject({ outcome: "duplicate" });
    const other = await folder.write("y.csv", "date,net,total\n01/03/2026 12:00,1,\n02/03/2026 12:00,,4\n");
    const camden = { restaurant: { id: "camden" } };
    await importNew(test.database, { ...net, ...camden, file: other, skipBad: folder.path("d.csv") });
    const rest = { ...gross, ...camden, file: other, skipBad: folder.path("e.csv") };
    expect(await importNew(test.database, rest)).toMatchObject({ lines: 1, skipped: 1 });
    expect(await saleLines(test.database, "camden")).toEqual(["2 2026-03-01 100", "3 2026-03-02 400"]);
  });

  it("grown, is refused for its old lines too", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const rows = "date,net,total\n01/03/2026 12:00,1,1.20\n";
    await importNew(test.database, optionsOf(await folder.write("x.csv", rows), { amount: { column: "net" } }));
    const grown = await folder.write("x.csv", `${rows}02/03/2026 12:00,2,2.40\n`);
    const gross = optionsOf(grown, { amount: { column: "total" } });
    expect(await refusal(importSales(test.database, gross))).toMatch(/--amount-column "net" then, "total" now/);
    expect(await importNew(test.database, { ...gross, amount: { column: "net" } })).toMatchObject({ lines: 1 });
  });

  it("now with ids, gives them to the sales of its lines, and corrects what it reads otherwise", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const file = await folder.write(
      "x.csv",
      "date,net,total,id\n01/03/2026 12:00,1,1.20,a\n02/03/2026 12:00,2,2.40,b\n",
    );
    await importNew(test.database, optionsOf(file, { amount: { column: "net" } }));
    const withIds = optionsOf(file, { amount: { column: "total" }, idColumns: ["id"] });
    expect(await importNew(test.database, withIds)).toMatchObject({ lines: 0, corrected: 2, adopted: 2 });
    expect(await total(test)).toBe(360);
    const net = optionsOf(file, { amount: { column: "net" }, idColumns: ["id"] });
    expect(await importNew(test.database, net)).toMatchObject({ lines: 0, corrected: 2, adopted: 0 });
    expect(await total(test)).toBe(300);
  });
});

describe("a file that grew by a line that was cut", () => {
  it.each([
    {
      what: "at an unquoted comma",
      line: "02/03/2026 12:00,Fish, chips,2.00,12.00,",
      refused: /line 3: has 6 fields, the header/,
    },
    {
      what: "in its amount",
      line: "02/03/2026 12:00,Pie,9,1,234.50",
      refused: /line 3: the amount "1" has no decimals/,
    },
  ])("is refused: $what", async ({ line, refused }) => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const rows = "date,item,price,amount,note\n01/03/2026 12:00,Pie,1.00,1.00,\n";
    await importNew(test.database, optionsOf(await folder.write("x.csv", rows)));
    const grown = optionsOf(await folder.write("x.csv", `${rows}${line}\n`));
    expect(await refusal(importSales(test.database, grown))).toMatch(refused);
    expect(await total(test)).toBe(100);
  });
});
