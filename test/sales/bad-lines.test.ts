import { readFile, stat } from "node:fs/promises";
import { ImportFault, type ImportOptions, importSales } from "@nightwriter/sales";
import { testDatabase } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { type Folder, importNew, nothing, optionsOf, rowCounts, saleLines, temporaryFolder } from "./fixture.ts";

const header = "city,date,qty,price\n";
const good = "Soho,01/03/2026 12:00,2,1.50\n";

/** Each bad line with the column and the reason that are told. */
const bad = [
  {
    raw: "Soho,31/02/2026 12:00,1,1.00",
    column: "date",
    reason: '"31/02/2026 12:00" is no date as dd/MM/yyyy HH:mm, between 1900 and 2199',
  },
  { raw: "Soho,,1,1.00", column: "date", reason: "is empty" },
  { raw: "Soho,01/03/2026 12:00,x,1.00", column: "qty", reason: '"x" is no number' },
  { raw: "Soho,01/03/2026 12:00,1,", column: "price", reason: "is empty" },
  { raw: "Soho,01/03/2026 12:00,1,1.005", column: "price", reason: '"1.005" has 3 decimals, GBP has 2' },
  {
    raw: "Soho,01/03/2026 12:00,0.5,1.01",
    column: "price",
    reason: '"1.01" times the quantity has more decimals than GBP, which has 2',
  },
  {
    raw: "Soho,01/03/2026 12:00,1,92233720368547758.08",
    column: "price",
    reason: '"92233720368547758.08" is too large: beyond 64 bits of minor units',
  },
  { raw: "Soho,01/03/2026 12:00,1,EUR 1.00", column: "price", reason: '"EUR 1.00" is in EUR, the total in GBP' },
  { raw: "Soho,01/03/2026 12:00,£1,1.00", column: "qty", reason: '"£1" is an amount of money, no quantity' },
  { raw: ",01/03/2026 12:00,1,1.00", column: "city", reason: "is empty" },
  { raw: "So\0ho,01/03/2026 12:00,1,1.00", column: "city", reason: "has a NUL in it" },
  { raw: "Soho,01/03/2026 12:00,1", column: "price", reason: "has 3 fields, the header has 4" },
  { raw: "Soho, yes,01/03/2026 12:00,1,1.00", column: undefined, reason: "has 5 fields, the header has 4" },
  { raw: 'Soho,"01/03/2026 12:00"x,1,1.00', column: undefined, reason: 'a closing quote is followed by "x,1,1.00"' },
  {
    raw: 'Soho,"01/03/2026 12:00,1,1.00',
    column: undefined,
    reason: "a quote opens a field and does not close it, or not at its end",
  },
];

async function write(folder: Folder, options: Partial<ImportOptions> = {}): Promise<ImportOptions> {
  const file = await folder.write("x.csv", header + bad.map(({ raw }) => `${good}${raw}\n`).join(""));
  return optionsOf(file, {
    restaurant: { column: "city" },
    amount: { quantityColumn: "qty", priceColumn: "price" },
    ...options,
  });
}

/** Line 1 is the header, and each bad line follows a good one. */
const told = bad.map(({ column, reason }, index) => ({ line: 2 * index + 3, column, reason }));

async function refusal(promise: Promise<unknown>): Promise<ImportFault> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ImportFault) return error;
  throw new Error("not refused as a bad file", { cause: error });
}

describe("importSales of a file with bad lines", () => {
  it("refuses it as a whole, and tells each of them with its line and column", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const fault = await refusal(importSales(test.database, await write(folder)));
    expect(fault.badLines).toEqual(told);
    expect(fault).toMatchObject({
      code: "bad_lines",
      details: { file: "x.csv", count: bad.length, line: 3, column: "date" },
      message: `x.csv: ${bad.length} bad lines, the first is line 3, column date: ${told[0]?.reason}; nothing was recorded`,
    });
    expect(await rowCounts(test.database)).toEqual(nothing);
  });

  it("tells no more of them than asked for, and counts all", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const fault = await refusal(importSales(test.database, await write(folder, { maxBadLines: 2 })));
    expect(fault.badLines).toEqual(told.slice(0, 2));
    expect(fault.details["count"]).toBe(bad.length);
  });

  it("counts bad lines far behind the first, in lines that were copied before", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const lines = Array.from(
      { length: 50_000 },
      (_, index) => `01/03/2026 12:00,${index % 10_000 === 9_999 ? "x" : "1"}\n`,
    );
    const file = await folder.write("x.csv", `date,amount\n${lines.join("")}`);
    const fault = await refusal(importSales(test.database, optionsOf(file)));
    expect(fault.badLines.map(({ line }) => line)).toEqual([10_001, 20_001, 30_001, 40_001, 50_001]);
    expect(await rowCounts(test.database)).toEqual(nothing);
  });

  it("refuses restaurants that are not known when none are to be made, line by line", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await importNew(test.database, optionsOf(await folder.write("soho.csv", "date,amount\n01/03/2026 12:00,1\n")));
    const file = await folder.write("x.csv", "date,amount,city\n01/03/2026 12:00,1,soho\n01/03/2026 12:00,1,Mayfair\n");
    const options = optionsOf(file, { restaurant: { column: "city" }, create: false });
    const fault = await refusal(importSales(test.database, options));
    expect(fault.badLines).toEqual([{ line: 3, column: "city", reason: 'restaurant "Mayfair" is not known' }]);
  });

  it("suspects Latin-1 when a restaurant's name is not UTF-8", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const file = await folder.write("x.csv", Buffer.from("city,date,amount\nZo\xEB,01/03/2026 12:00,1\n", "latin1"));
    const fault = await refusal(importSales(test.database, optionsOf(file, { restaurant: { column: "city" } })));
    expect(fault.message).toContain("column city: is not UTF-8; say --encoding windows-1252 if that is what it is");
  });
});

describe("importSales with skipBad", () => {
  it("records the good lines, and writes each bad one as it stood, with its line, column and reason", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const skipBad = folder.path("bad.csv");
    const result = await importNew(test.database, await write(folder, { skipBad, maxBadLines: 3 }));
    expect(result).toMatchObject({ lines: bad.length, skipped: bad.length, badLines: told.slice(0, 3) });
    expect([...result.sums]).toEqual([["GBP", BigInt(bad.length) * 300n]]);
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const lines = told.map(({ line, column, reason }, index) =>
      [quoted(String(line)), quoted(column ?? ""), quoted(reason), bad[index]?.raw].join(","),
    );
    expect(await readFile(skipBad, "utf8")).toBe(
      ['"bad line","bad column","bad because",city,date,qty,price', ...lines, ""].join("\n"),
    );
  });

  it("is known the next time, and leaves the bad lines of before alone", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const options = await write(folder, { skipBad: folder.path("bad.csv") });
    await importNew(test.database, options);
    const before = await readFile(folder.path("bad.csv"), "utf8");
    expect(await importSales(test.database, options)).toMatchObject({ outcome: "duplicate" });
    expect(await readFile(folder.path("bad.csv"), "utf8")).toBe(before);
    expect(await rowCounts(test.database)).toMatchObject({ sales: bad.length, files: 1 });
  });

  it("writes what can be imported with the same options once it is mended", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const file = await folder.write("x.csv", "date,amount\r\n01/03/2026 12:00,1\r\n02/03/2026 12:00,zwei\r\n");
    const skipBad = folder.path("bad.csv");
    await importNew(test.database, optionsOf(file, { skipBad }));
    const mended = await folder.write("mended.csv", (await readFile(skipBad, "utf8")).replace(",zwei", ",2"));
    expect(await importNew(test.database, optionsOf(mended))).toMatchObject({ lines: 1, skipped: 0 });
    expect(await saleLines(test.database)).toEqual(["2 2026-03-01 100", "2 2026-03-02 200"]);
  });

  it("writes bad lines in the file's own encoding", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const raw = Buffer.from("01/03/2026 12:00,\x80x,Caf\xE9", "latin1");
    const file = await folder.write("x.csv", Buffer.concat([Buffer.from("date,amount,name\n"), raw]));
    const skipBad = folder.path("bad.csv");
    await importNew(test.database, optionsOf(file, { skipBad, encoding: "latin-1" }));
    expect((await readFile(skipBad)).includes(raw)).toBe(true);
  });

  it("makes no file when no line is bad", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const file = await folder.write("x.csv", "date,amount\n01/03/2026 12:00,1\n");
    const skipBad = folder.path("bad.csv");
    expect(await importNew(test.database, optionsOf(file, { skipBad }))).toMatchObject({ lines: 1, skipped: 0 });
    await expect(stat(skipBad)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("does not overwrite a file, and records nothing then", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const skipBad = await folder.write("bad.csv", "mine");
    const fault = await refusal(importSales(test.database, await write(folder, { skipBad })));
    expect(fault.code).toBe("skip_file_exists");
    expect(await readFile(skipBad, "utf8")).toBe("mine");
    expect(await rowCounts(test.database)).toEqual(nothing);
  });

  it("leaves no file behind when nothing is recorded after all", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const abort = new AbortController();
    const lines = "01/03/2026 12:00,x\n".repeat(60_000);
    const file = await folder.write("x.csv", `date,amount\n${lines}`);
    const skipBad = folder.path("bad.csv");
    const options = optionsOf(file, {
      skipBad,
      signal: abort.signal,
      onProgress: ({ phase, lines: read }) => {
        if (phase === "recording" && read > 20_000) abort.abort(new Error("Ctrl-C"));
      },
    });
    await expect(importSales(test.database, options)).rejects.toThrow("Ctrl-C");
    await expect(stat(skipBad)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(stat(`${skipBad}.partial`)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("remembers nothing of a file of which every line is bad, and reads it anew with the right format", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const options = optionsOf(await folder.write("x.csv", "date,amount\n01/03/2026 12:00,1\n"), {
      skipBad: folder.path("bad.csv"),
    });
    const date = { column: "date", format: "yyyy-MM-dd HH:mm" };
    expect(await importNew(test.database, { ...options, date })).toMatchObject({ lines: 0, skipped: 1 });
    expect(await rowCounts(test.database)).toMatchObject({ sales: 0, files: 0 });
    const again = { ...options, skipBad: folder.path("bad-2.csv") };
    expect(await importNew(test.database, again)).toMatchObject({ lines: 1, knownLines: 0 });
  });

  it("does not make the restaurant of a line that was skipped before", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const restaurant = { column: "city" };
    const old = "city,date,amount\nSoho,01/03/2026 12:00,1\n";
    await importNew(test.database, optionsOf(await folder.write("x.csv", old), { restaurant }));
    const more = `${old}Mayfair,01/03/2026 12:00,2\n`;
    const options = { restaurant, create: false, skipBad: folder.path("bad.csv") };
    expect(await importNew(test.database, optionsOf(await folder.write("x.csv", more), options))).toMatchObject({
      skipped: 1,
    });
    const most = await folder.write("x.csv", `${more}Soho,01/03/2026 12:00,3\n`);
    expect(await importNew(test.database, optionsOf(most, { restaurant }))).toMatchObject({
      lines: 1,
      restaurantsCreated: 0,
    });
  });

  it("does not lose new lines in a quote that the old part left open", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const old = 'note,date,amount\ngood,01/03/2026 12:00,1\n"open,01/03/2026 12:00,1\n';
    const first = optionsOf(await folder.write("x.csv", old), { skipBad: folder.path("bad-1.csv") });
    expect(await importNew(test.database, first)).toMatchObject({ lines: 1, skipped: 1 });
    const grown = await folder.write("x.csv", `${old}x,02/03/2026 12:00,2\nclosed",03/03/2026 12:00,3\n`);
    const fault = await refusal(importSales(test.database, optionsOf(grown)));
    expect(fault.badLines).toEqual([
      { line: 3, column: undefined, reason: "begins in the 3 lines that were imported before" },
    ]);
  });
});
