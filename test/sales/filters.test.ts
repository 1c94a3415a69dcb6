/** Lines that are left out, and sales that are taken back because they are. */
import { join } from "node:path";
import { type ColumnValue, type ImportOptions, importSales } from "@nightwriter/sales";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { importNew, optionsOf, refusal, temporaryFolder, total } from "./fixture.ts";

const field = (name: string): string => join(import.meta.dirname, "field", `${name}.csv`);
const status = (value: string): ColumnValue[] => [{ column: "status", value }];
const shop: Partial<ImportOptions> = {
  date: { column: "Created at", format: "yyyy-MM-dd HH:mm:ss xx" },
  amount: { column: "Total" },
  idColumns: ["Name"],
};
const kept = { except: [{ column: "Financial Status", value: "voided" }] };

/** Every sale with an id is what its rows come to, and one that was taken back comes to nothing. */
async function unequal({ db }: TestDatabase): Promise<unknown[]> {
  const { rows } = await sql`
    select hash from (select distinct on (hash) * from sales.identity order by hash, import_id desc) as now
    where amount_minor is distinct from (
      select sum(amount_minor) from sales.sale
      where (coalesce(first_date, business_date), coalesce(first_source, source), coalesce(first_line, source_line))
        = (now.first_date, now.first_source, now.first_line))`.execute(db);
  return rows;
}

it("status-column: keeps what is said, and counts the rest", async () => {
  await using test = await testDatabase();
  const options = { date: { column: "date", format: "yyyy-MM-dd HH:mm" } };
  const file = optionsOf(field("status-column"), { ...options, only: status("Delivered") });
  expect(await importNew(test.database, file)).toMatchObject({
    lines: 1,
    leftOut: 2,
    sums: new Map([["GBP", 1_000n]]),
  });
  expect(await importSales(test.database, file)).toMatchObject({ outcome: "duplicate" });
  // The other lines of the same file are other sales.
  const rest = { ...file, only: status("Failed") };
  expect(await importNew(test.database, rest)).toMatchObject({ lines: 1, sums: new Map([["GBP", 5_000n]]) });
  const most = { ...file, only: [], except: status("Failed") };
  expect(await refusal(importSales(test.database, most))).toMatch(
    /1 of its lines was recorded .* not --except "status=Failed" now|--only "status=Delivered" then, not now/,
  );
});

it("refuses a value that no line has ever had, and names those that there are", async () => {
  await using test = await testDatabase();
  await using folder = await temporaryFolder();
  const write = async (name: string, ...rows: string[]) =>
    optionsOf(await folder.write(name, `date,amount,status\n${rows.join("\n")}\n`), { except: status("Void") });
  const first = await write("a.csv", "01/03/2026 12:00,1,Paid", "01/03/2026 12:01,2,Voided");
  const message = await refusal(importSales(test.database, first));
  expect(message).toMatch(
    /^a\.csv: --except "status=Void": no line says so, nor did one of an earlier import; the file has "Paid", "Voided" there; nothing was recorded\. write it as the file does, or --unseen-ok/,
  );
  expect(await total(test)).toBe(0);
  await importNew(test.database, { ...first, except: status("Voided") });
  // What an earlier file had need not be in each.
  const next = await write("b.csv", "02/03/2026 12:00,4,Paid");
  await importNew(test.database, { ...next, except: status("Voided") });
  await importNew(test.database, {
    ...(await write("c.csv", "03/03/2026 12:00,8,Paid")),
    accept: new Set(["unseen-ok"]),
  });
  expect(await total(test)).toBe(1_300);
});

describe("a sale that is left out now", () => {
  it("rolling-c: is taken back, three of 27 without being asked", async () => {
    await using test = await testDatabase();
    for (const name of ["rolling-a", "rolling-b"]) await importNew(test.database, optionsOf(field(name), shop));
    const c = optionsOf(field("rolling-c-corrected"), { ...shop, ...kept });
    expect(await importNew(test.database, c)).toMatchObject({ lines: 0, corrected: 1, takenBack: 3 });
    expect(await total(test)).toBe(220_775);
    expect(await unequal(test)).toEqual([]);
    const { rows } = await sql`select taken_back, left_out from sales.import order by id desc limit 1`.execute(test.db);
    expect(rows).toEqual([{ taken_back: 3n, left_out: 3n }]);
  });

  it("rolling: left out of all three from the start, counts nothing", async () => {
    await using test = await testDatabase();
    for (const name of ["rolling-a", "rolling-b"]) {
      await importNew(test.database, optionsOf(field(name), { ...shop, ...kept }));
    }
    expect(await total(test)).toBe(208_305);
    await importNew(test.database, optionsOf(field("rolling-c-corrected"), { ...shop, ...kept }));
    expect(await total(test)).toBe(203_785);
    expect(await unequal(test)).toEqual([]);
  });

  it("comes back when it is kept again", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const id = { idColumns: ["id"], except: status("Void") };
    const write = async (name: string, ...rows: string[]) =>
      optionsOf(await folder.write(name, `date,amount,status,id\n${rows.join("\n")}\n`), id);
    const rows = "a b c d e f g h".split(" ").map((each, index) => `0${index + 1}/03/2026 12:00,1,Void?,${each}`);
    const paid = rows.map((row) => row.replace("Void?", "Paid"));
    await importNew(test.database, { ...(await write("1.csv", ...paid)), accept: new Set(["unseen-ok"]) });
    const voids = await write("2.csv", paid[0] ?? "", ...rows.slice(1).map((row) => row.replace("Void?", "Void")));
    expect(await refusal(importSales(test.database, voids))).toMatch(
      /^2\.csv: 7 of 8 sales that were recorded before are left out now, and would be taken back; the first is line 3; .*--take-back/,
    );
    expect(await importNew(test.database, { ...voids, accept: new Set(["take-back"]) })).toMatchObject({
      takenBack: 7,
    });
    expect(await total(test)).toBe(100);
    const again = await write("3.csv", ...[...paid, "09/03/2026 12:00,1,Paid,i"].toReversed());
    expect(await importNew(test.database, again)).toMatchObject({ lines: 8, knownLines: 1, corrected: 0 });
    expect(await total(test)).toBe(900);
    expect(await unequal(test)).toEqual([]);
  });

  it("was recorded without an id: is found by what it says", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const rows = ["a,Paid", "b,Void", "c,Paid", "d,Paid"].map(
      (end, index) => `0${index + 1}/03/2026 12:00,${index + 1},${end}`,
    );
    const plain = await folder.write("1.csv", `date,amount,id,status\n${rows.join("\n")}\n`);
    await importNew(test.database, optionsOf(plain));
    expect(await total(test)).toBe(1_000);
    const other = await folder.write(
      "2.csv",
      `id,status,date,amount\n${rows.map((row) => row.replace(/^(.*),(\w,\w+)$/u, "$2,$1")).join("\n")}\n`,
    );
    const options = optionsOf(other, { idColumns: ["id"], except: status("Void") });
    expect(await importNew(test.database, options)).toMatchObject({ lines: 0, adopted: 3, takenBack: 1 });
    expect(await total(test)).toBe(800);
    expect(await unequal(test)).toEqual([]);
  });

  it("is taken back only within the restaurants that the file keeps lines of, even if these come later", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = { idColumns: ["id"], restaurant: { column: "city" } };
    const write = async (name: string, ...rows: string[]) =>
      optionsOf(await folder.write(name, `city,date,amount,status,id\n${rows.join("\n")}\n`), options);
    const [soho, leeds] = ["Soho", "Leeds"].map((city) => `${city},01/03/2026 12:00,1,Paid,1`);
    await importNew(test.database, await write("1.csv", soho ?? "", leeds ?? ""));
    const rows = [soho, leeds].map((row = "") => row.replace("Paid", "Void"));
    const later = await write("2.csv", ...rows, "York,01/03/2026 12:00,1,Void,1", "Leeds,02/03/2026 12:00,2,Paid,2");
    const result = await importNew(test.database, { ...later, except: status("Void") });
    expect(result).toMatchObject({ lines: 1, leftOut: 3, takenBack: 1, restaurantsCreated: 0 });
    expect(await total(test)).toBe(300);
    const { rows: sums } =
      await sql`select restaurant_id as id, sum(amount_minor)::int as sum from sales.sale group by 1 order by 1`.execute(
        test.db,
      );
    expect(sums).toEqual([
      { id: "Leeds", sum: 200 },
      { id: "Soho", sum: 100 },
    ]);
  });

  it("is not taken back by an older export", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = { idColumns: ["id"], except: status("Void"), accept: new Set(["unseen-ok"] as const) };
    const write = async (name: string, ...rows: string[]) =>
      optionsOf(await folder.write(name, `date,amount,status,id\n${rows.join("\n")}\n`), options);
    await importNew(test.database, await write("new.csv", "01/03/2026 12:00,1,Paid,1", "05/03/2026 12:00,2,Paid,2"));
    const old = await write("old.csv", "01/03/2026 12:00,1,Void,1", "02/03/2026 12:00,4,Paid,3");
    expect(await refusal(importSales(test.database, old))).toMatch(/^old\.csv: would set 1 sales? back .*--older/);
  });
});
