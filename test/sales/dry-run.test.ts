/** An import that is only looked at says what the import itself comes to, and leaves nothing behind. */
import { existsSync } from "node:fs";
import { importSales } from "@nightwriter/sales";
import { testDatabase } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { importNew, nothing, optionsOf, refusal, rowCounts, sales, temporaryFolder } from "./fixture.ts";

const content = `city;date;amount;id
Leeds;01/03/2026 12:00;1,50;a
Bath;02/03/2026 03:30;2,00;b
Leeds;03/03/2026 12:00;x;c
Leeds;03/03/2026 13:00;-0,25;d
`;
const read = {
  restaurant: { column: "city" },
  delimiter: ";",
  decimalComma: true,
  cutoff: "04:00",
  idColumns: ["id"],
} as const;

describe("a dry run", () => {
  it("says how the file is read, its first lines and whose they are, and leaves nothing", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const skipBad = folder.path("bad.csv");
    const options = { ...optionsOf(await folder.write("x.csv", content), { ...read }), skipBad };
    const { look, ...looked } = await importNew(test.database, { ...options, dryRun: true });
    expect([existsSync(skipBad), existsSync(`${skipBad}.partial`)]).toEqual([false, false]);
    expect(await rowCounts(test.database)).toEqual(nothing);
    expect(look).toEqual({
      delimiter: ";",
      encoding: "utf-8",
      header: ["city", "date", "amount", "id"],
      firstLines: [
        { line: 2, restaurant: "Leeds", businessDate: "2026-03-01", localTime: "2026-03-01 12:00", amountMinor: 150n },
        { line: 3, restaurant: "Bath", businessDate: "2026-03-01", localTime: "2026-03-02 03:30", amountMinor: 200n },
        { line: 5, restaurant: "Leeds", businessDate: "2026-03-03", localTime: "2026-03-03 13:00", amountMinor: -25n },
      ].map((line) => ({ ...line, currency: "GBP" })),
      restaurants: [
        { id: "Leeds", isNew: true, sales: 2, sumMinor: 125n, firstDate: "2026-03-01", lastDate: "2026-03-03" },
        { id: "Bath", isNew: true, sales: 1, sumMinor: 200n, firstDate: "2026-03-01", lastDate: "2026-03-01" },
      ].map((restaurant) => ({ ...restaurant, currency: "GBP" })),
    });
    const { look: none, id, source, ...imported } = await importNew(test.database, options);
    // What was only looked at has taken no number: people type those that they have seen.
    expect(id).toBe(1n);
    expect(none).toBeUndefined();
    expect({ ...looked, id, source }).toEqual({ ...imported, id, source });
    expect(looked).toMatchObject({ id: undefined, lines: 3, skipped: 1, restaurantsCreated: 2 });
    expect(await sales(test.database)).toHaveLength(3);
    // What is known by then is told as the import would tell it.
    const next = await folder.write("y.csv", content.replace("1,50", "1,75").replace(";x;", ";4;"));
    const again = { ...optionsOf(next, { ...read }), dryRun: true };
    expect(await importNew(test.database, again)).toMatchObject({
      lines: 1,
      knownLines: 2,
      corrected: 1,
      look: { restaurants: [{ id: "Leeds", isNew: false, sales: 2, sumMinor: 425n }] },
    });
    expect(await sales(test.database)).toHaveLength(3);
  });

  it("is refused with the same words as the import", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = optionsOf(await folder.write("x.csv", content), { ...read });
    const refused = await refusal(importSales(test.database, options));
    expect(refused).toMatch(/line 4, column amount: "x" is no number/);
    expect(await refusal(importSales(test.database, { ...options, dryRun: true }))).toBe(refused);
    const skipBad = await folder.write("bad.csv", "");
    const exists = await refusal(importSales(test.database, { ...options, skipBad, dryRun: true }));
    expect(exists).toMatch(/bad\.csv: exists already/);
    expect(await rowCounts(test.database)).toEqual(nothing);
  });

  it("answers that the content was imported before", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    const options = optionsOf(await folder.write("x.csv", "date,amount\n01/03/2026 12:00,1\n"));
    const { id } = await importNew(test.database, options);
    expect(await importSales(test.database, { ...options, dryRun: true })).toMatchObject({ outcome: "duplicate", id });
  });
});
