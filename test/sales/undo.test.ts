/** Imports that are taken back, and taken back again. */
import { registerJob } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { importSales } from "@nightwriter/sales";
import { listImports, showImport, undoImport } from "@nightwriter/sales/imports";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { importNew, optionsOf, refusal, sales, temporaryFolder, total } from "./fixture.ts";

const actor = { name: "ann", host: "laptop" };
const reason = "read with the wrong column";

async function undo({ database }: TestDatabase, id: bigint | undefined, dryRun = false) {
  return undoImport(database, { id: id ?? 0n, actor, reason, dryRun });
}

async function audited({ db }: TestDatabase): Promise<unknown[]> {
  const { rows } = await sql`select verb, actor, reason, arguments from nightwriter.audit_log order by id`.execute(db);
  return rows;
}

const rows = (...lines: readonly string[]): string => `date,amount,id\n${lines.join("\n")}\n`;
const ids = { idColumns: ["id"] };

describe("undoing an import", () => {
  it("reverses its rows, once, and is undone in the same way", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const file = await folder.write("x.csv", rows("01/03/2026 12:00,1,a", "02/03/2026 12:00,2,b"));
    const { id } = await importNew(test.database, { ...optionsOf(file), actor });
    const undone = await undo(test, id);
    expect(undone).toMatchObject({ changed: true, rows: 2, sums: new Map([["GBP", -300n]]), file: "x.csv" });
    expect(undone.businessDates).toEqual(["2026-03-01", "2026-03-02"]);
    expect(await total(test)).toBe(0);
    expect(await undo(test, id)).toMatchObject({ changed: false, undo: undefined });
    const again = await undo(test, undone.undo);
    expect(again).toMatchObject({ changed: true, sums: new Map([["GBP", 300n]]) });
    expect(await total(test)).toBe(300);
    expect(await importSales(test.database, optionsOf(file))).toMatchObject({ outcome: "duplicate", id });
    // In force again, and taken back again, by its own number.
    expect(await undo(test, id)).toMatchObject({ changed: true });
    expect(await total(test)).toBe(0);
    expect(await sales(test.database)).toHaveLength(8);
    expect(await audited(test)).toMatchObject([
      { verb: "imports undo", actor: "ann", reason, arguments: { import: String(id) } },
      { arguments: { import: String(undone.undo) } },
      { arguments: { import: String(id) } },
    ]);
  });

  it("changes nothing when it is only looked at", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const { id } = await importNew(test.database, optionsOf(await folder.write("x.csv", rows("01/03/2026 12:00,1,a"))));
    expect(await undo(test, id, true)).toMatchObject({ changed: true, rows: 1, sums: new Map([["GBP", -100n]]) });
    expect([await total(test), await audited(test)]).toEqual([100, []]);
    expect(await listImports(test.database, { limit: 10 })).toHaveLength(1);
  });

  it("makes way for the same file, read in another way", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const file = await folder.write("x.csv", "date,net,total\n01/03/2026 12:00,1,1.20\n");
    const net = optionsOf(file, { amount: { column: "net" } });
    const gross = optionsOf(file, { amount: { column: "total" } });
    const { id } = await importNew(test.database, net);
    const advice = /nightwriter imports undo (\d+)/.exec(await refusal(importSales(test.database, gross)));
    expect(advice?.[1]).toBe(String(id));
    const taken = await undo(test, id);
    await importNew(test.database, gross);
    expect(await total(test)).toBe(120);
    // The same bytes count once: the first reading does not come back beside the second one.
    await importNew(test.database, { ...net, accept: new Set(["allow-overlap"]) }).catch(() => undefined);
    expect(await total(test)).toBe(120);
    expect(taken.changed).toBe(true);
  });

  it("does not bring back what was recorded anew", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const file = await folder.write("x.csv", rows("01/03/2026 12:00,1,a", "01/03/2026 12:01,2,b"));
    for (const options of [{}, { ...ids, restaurant: { id: "camden" } }]) {
      const { id } = await importNew(test.database, optionsOf(file, options));
      const { undo: first } = await undo(test, id);
      const again = await importNew(test.database, optionsOf(file, options));
      expect(await refusal(undo(test, first))).toMatch(
        /look(?:s)? like sales that were recorded since|has built on it/,
      );
      await undo(test, again.id);
      expect(await undo(test, first)).toMatchObject({ changed: true });
    }
    expect(await total(test)).toBe(600);
  });

  it("waits for the imports that have built on it, and makes each sale what it was before", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const file = async (name: string, ...lines: string[]) => optionsOf(await folder.write(name, rows(...lines)), ids);
    const [one, two] = ["01/03/2026 12:00,1,a", "02/03/2026 12:00,2,b"];
    const first = await importNew(test.database, await file("1.csv", one ?? "", two ?? ""));
    const second = await importNew(test.database, await file("2.csv", two ?? "", "04/03/2026 12:00,5,a"));
    expect(await total(test)).toBe(700);
    expect(await refusal(undo(test, first.id))).toBe(
      `import ${first.id} (1.csv): import ${second.id} (2.csv) has built on it; undo that one first: nightwriter imports undo ${second.id}`,
    );
    await undo(test, second.id);
    expect(await total(test)).toBe(300);
    const third = await importNew(test.database, await file("3.csv", two ?? "", "01/03/2026 12:00,3,a"));
    expect(third).toMatchObject({ corrected: 1, knownLines: 1 });
    expect(await total(test)).toBe(500);
    await undo(test, third.id);
    await undo(test, first.id);
    expect(await total(test)).toBe(0);
    const again = await importNew(test.database, await file("4.csv", two ?? "", "01/03/2026 12:00,1,a"));
    expect(again).toMatchObject({ lines: 2, knownLines: 0 });
    expect(await total(test)).toBe(300);
    expect(await showImport(test.database, again.id ?? 0n)).toMatchObject({ added: 2n, neededBy: [] });
  });

  it("gives sales that were known without an id back to those that have none", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const plain = await folder.write("1.csv", "date,amount\n01/03/2026 12:00,1\n01/03/2026 12:01,2\n");
    const { id } = await importNew(test.database, optionsOf(plain));
    const withIds = optionsOf(await folder.write("2.csv", rows("01/03/2026 12:01,2,b", "01/03/2026 12:00,1,a")), ids);
    const adopting = await importNew(test.database, withIds);
    expect(adopting).toMatchObject({ lines: 0, adopted: 2 });
    await undo(test, adopting.id);
    expect(await total(test)).toBe(300);
    expect(await importNew(test.database, withIds)).toMatchObject({ lines: 0, adopted: 2 });
    expect(await refusal(undo(test, id))).toMatch(/has built on it/);
  });

  it("is refused for a file that a later import continues, for a closed date and an unknown number", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const line = "01/03/2026 12:00,1,a";
    const { id } = await importNew(test.database, optionsOf(await folder.write("x.csv", rows(line))));
    const grown = await folder.write("x.csv", rows(line, "02/03/2026 12:00,2,b"));
    const next = await importNew(test.database, optionsOf(grown));
    expect(await refusal(undo(test, id))).toMatch(/has built on it/);
    await registerJob(test.database, restaurantTotals);
    await sql`update nightwriter.job set closed_through = '2026-03-02'`.execute(test.db);
    expect(await refusal(undo(test, next.id))).toMatch(
      /has sales of 2026-03-02, and every date up to 2026-03-02 is closed/,
    );
    expect(await refusal(undo(test, 999n))).toBe("import 999: is not known; see: nightwriter imports list");
    expect(await total(test)).toBe(300);
  });
});

describe("imports", () => {
  it("are listed, the newest first, and shown with what they were read with", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const file = optionsOf(await folder.write("x.csv", rows("01/03/2026 12:00,1,a", "02/03/2026 12:00,x,b")), ids);
    const { id = 0n } = await importNew(test.database, { ...file, actor, skipBad: folder.path("bad.csv") });
    const other = await folder.write("y.csv", "city,date,amount\nLeeds,01/03/2026 12:00,1\n");
    await importNew(test.database, optionsOf(other, { restaurant: { column: "city" } }));
    const { undo: undoing } = await undo(test, id);
    const all = await listImports(test.database, { limit: 10 });
    expect(all.map(({ file: name, isInForce, undoneBy }) => [name, isInForce, undoneBy])).toEqual([
      ["x.csv", true, null],
      ["y.csv", true, null],
      ["x.csv", false, undoing],
    ]);
    expect(await listImports(test.database, { limit: 1, restaurant: "leeds" })).toMatchObject([{ file: "y.csv" }]);
    expect(await showImport(test.database, id)).toMatchObject({
      actor: "ann",
      host: "laptop",
      added: 1n,
      skipped: 1n,
      skipFile: folder.path("bad.csv"),
      sums: { GBP: "100" },
      firstDate: "2026-03-01",
      reading: { "--id-column": ["id"], "--amount-column": "amount", "--date-format": "dd/MM/yyyy HH:mm" },
    });
  });
});
