import { describe, expect, it } from "vitest";
import type { Restaurant } from "../restaurants/restaurant-store.ts";
import { compileAmount } from "./amount.ts";

const euros: Restaurant = {
  id: "paris",
  copyId: "paris",
  clocks: [{ zone: "Europe/Paris", cutoffMs: 0, fromDay: Number.NEGATIVE_INFINITY }],
  currency: "EUR",
  digits: 2,
  openedOn: undefined,
  closedSince: undefined,
};
const product = { quantityColumn: "Qty", priceColumn: "Price" };

describe("compileAmount", () => {
  it("reads a decimal comma in the columns that have one", () => {
    const reader = compileAmount(product, { decimalComma: ["price "] });
    expect(reader.read(["1.5", "1,10 €"], euros)).toBe(165n);
    expect(reader.read(["1,5", "1,10 €"], euros)).toMatchObject({ column: 0 });
  });

  it("refuses a decimal comma in a column that no amount is read from", () => {
    expect(() => compileAmount(product, { decimalComma: ["Prix"] })).toThrow(
      'decimal comma in column "Prix": no amount is read from it; those are "Qty" and "Price"',
    );
  });

  it("refuses a quantity and a price that are both below zero, and names them", () => {
    const reader = compileAmount(product, { decimalComma: false });
    expect(reader.read(["-2", "3.00"], euros)).toBe(-600n);
    expect(reader.read(["2", "(3.00)"], euros)).toBe(-600n);
    expect(reader.read(["-2", "-3.00"], euros)).toEqual({
      column: 1,
      reason: '"-3.00" and Qty "-2" are both below zero: their product would be a sale',
    });
  });
});
