import { describe, expect, it } from "vitest";
import { CsvReader } from "../read/csv-reader.ts";
import { RowFilter, type RowFilterOptions } from "../read/row-filter.ts";
import type { BadLines } from "./bad-lines.ts";
import { FileRecords } from "./file-records.ts";
import type { Load } from "./load-lines.ts";

const head = "date,item,amount,note";

/** What becomes of each line after the first `known`: its amount, "left out", or what is wrong with it. */
function read(
  lines: readonly string[],
  { known = 0, ...filter }: RowFilterOptions & { known?: number } = {},
): string[] {
  const reader = new CsvReader();
  const [header, ...records] = [...reader.read(lines.join("\n")), ...reader.end()];
  if (header === undefined) return [];
  const load: Load = {
    file: { file: "x.csv" },
    restaurant: { id: "soho" },
    restaurants: {},
    filter: new RowFilter(filter),
    print: {} as Load["print"],
    bad: {} as BadLines,
  };
  const target = {
    copy: "",
    columns: ["date", "amount"],
    encode: () => "",
    isRecord: ([date = "", amount = ""]: readonly string[]) => /^\d{4}-/u.test(date) && /\d/u.test(amount),
  };
  const of = new FileRecords(header, records, { file: "x.csv", load, target, delimiter: "," });
  return records.slice(known).map((record) => {
    const line = of.lineOf(record);
    if ("reason" in line) return `${record.line}: ${line.reason}`;
    return line.isKept ? (of.fieldsOf(record)[1] ?? "") : "left out";
  });
}

describe("FileRecords", () => {
  const pie = "2024-01-05 12:00,Pie,1.00,";
  const shifted = "2024-01-05 12:01,Fish, chips,2.00,";

  it.each<{ where: string; lines: readonly string[]; known?: number; says: readonly string[] }>([
    { where: "among others", lines: [head, pie, shifted], says: ["1.00", "3: has 5 fields, the header has 4"] },
    { where: "first", lines: [head, shifted, pie], says: ["2: has 5 fields, the header has 4", "1.00"] },
    {
      where: "the only one that is new",
      lines: [head, pie, shifted],
      known: 1,
      says: ["3: has 5 fields, the header has 4"],
    },
  ])("refuses a line that was cut in two, where it is $where", ({ lines, known = 0, says }) => {
    expect(read(lines, { known })).toEqual(says);
  });

  it("takes one more delimiter at the end of each line for what it is, and refuses the line that has none", () => {
    const lines = [head, `${pie},`, `${pie},`, `${pie},`, pie, `${pie},x`];
    const bad = ["5: has 4 fields, most lines have 5", "6: has 5 fields, the header has 4"];
    expect(read(lines)).toEqual(["1.00", "1.00", "1.00", ...bad]);
  });

  describe("a quote that is not doubled", () => {
    const swallowing = [
      '2024-01-05 12:00,"Large, 12"",5.00,',
      "2024-01-05 12:01,Coke,1.00,",
      '2024-01-05 12:02,12",6.00,',
    ];
    const refused = "2: a quote that is not doubled makes one field of it and line 3, which is a record";

    it("is refused where it swallows lines that are records", () => {
      expect(read([head, ...swallowing])).toEqual([refused]);
    });

    it("is refused where each line has a delimiter at its end", () => {
      expect(read([head, ...swallowing.map((line) => `${line},`)])).toEqual([refused]);
    });

    it("is refused where what the last of these lines says would leave all of them out", () => {
      const lines = swallowing.map((line, index) => `${line}${index === 2 ? "Void" : "Paid"}`);
      expect(read([head, ...lines], { except: [{ column: "note", value: "Void" }] })).toEqual([refused]);
    });
  });

  it("refuses a header that goes on with lines behind carriage returns, not one with such in quotes", () => {
    expect(() => read([`${head}\r${pie}\r${pie}`])).toThrow("x.csv: some of its lines end with carriage returns");
    expect(read(['date,item,"amount","no\rte"', pie])).toEqual(["1.00"]);
  });

  it("leaves a line of totals out that has fewer fields", () => {
    expect(read([head, pie, "Total,,1.00"], { except: [{ column: "date", value: "Total" }] })).toEqual([
      "1.00",
      "left out",
    ]);
  });
});
