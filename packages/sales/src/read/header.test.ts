import { describe, expect, it } from "vitest";
import { findColumns, hasColumn } from "./header.ts";

const header = ["Order ID", " ORDER DATE ", "Quantity", "quantity", "Größe"];

describe("findColumns", () => {
  it("finds names whatever their case and the blanks around them, in the order asked for", () => {
    expect(findColumns(header, ["GRÖSSE".replace("SS", "ß"), "order date", "ORDER ID"], "x.csv")).toEqual([4, 1, 0]);
  });

  it("prefers the one spelling that is exactly the same", () => {
    expect(findColumns(header, ["quantity"], "x.csv")).toEqual([3]);
  });

  it("refuses a name that means two columns", () => {
    expect(() => findColumns(header, ["QUANTITY"], "x.csv")).toThrow(
      expect.objectContaining({
        code: "column_ambiguous",
        message: 'x.csv: has 2 columns "QUANTITY"; say which, as "QUANTITY#1" or "QUANTITY#2"',
      }),
    );
  });

  it("answers a missing column with the columns that there are", () => {
    expect(() => findColumns(header, ["Price"], "x.csv")).toThrow(
      expect.objectContaining({
        code: "column_missing",
        message: 'x.csv: has no column "Price"; it has "Order ID", "ORDER DATE", "Quantity", "quantity", "Größe"',
      }),
    );
  });

  it("suspects the delimiter when all is one column", () => {
    expect(() => findColumns(["a;b;c"], ["b"], "x.csv")).toThrow('is the delimiter ";"?');
  });
});

describe("hasColumn", () => {
  it("matches as findColumns does", () => {
    expect([hasColumn(header, "order date"), hasColumn(header, "date")]).toEqual([true, false]);
  });

  it("takes a number for one of several columns of a name, and folds line ends in names", () => {
    expect(
      findColumns(["Total", "total", "Gross\nSales", "Rate#2"], ["TOTAL#2", "gross sales", "rate#2"], "x.csv"),
    ).toEqual([1, 2, 3]);
    expect(() => findColumns(["Total", "total"], ["total#3"], "x.csv")).toThrow('has no column "total#3"');
  });

  it.each([
    { header: ["Ammount", "Date"], hint: '(did you mean "Ammount"?)' },
    { header: ["2024-01-05 12:00", "Pie", "10.00"], hint: "its first line looks like a sale" },
    { header: ["date", "Gr\uFFFD\uFFFDe"], hint: "; the file is not UTF-8; say --encoding windows-1252" },
    { header: ["Daily sales report"], hint: "--skip-lines" },
    { header: ["date;amount"], hint: 'is the delimiter ";"?' },
  ])("says what seems to be the matter: $hint", ({ header: there, hint }) => {
    expect(() => findColumns(there, ["amount"], "x.csv")).toThrow(hint);
  });
});
