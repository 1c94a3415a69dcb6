import { describe, expect, it } from "vitest";
import { LostQuotes } from "./lost-quotes.ts";

function look(lines: readonly string[], { decimalComma = false, named = [0, 1] } = {}): string {
  const quotes = new LostQuotes({ amounts: [1], named: new Set(named), decimalComma });
  for (const [index, line] of lines.entries()) quotes.look(line.split("|"), index + 2);
  try {
    quotes.assertNone("x.csv", new Set());
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("LostQuotes", () => {
  it.each([
    { what: "thousands", lines: ["d|7.00|", "d|1|234.50"], options: {} },
    { what: "millions", lines: ["d|1|234|567.50", "d|7.00||"], options: {} },
    { what: "a currency sign", lines: ["d|£7.00|", "d|-£1|234.50"], options: {} },
    { what: "a decimal comma", lines: ["d|7,00|", "d|12|50"], options: { decimalComma: true } },
  ])("finds a number that is cut: $what", ({ lines, options }) => {
    expect(look(lines, options)).toMatch(/^x\.csv: line \d: the amount .* lost its quotes; .*--whole-amounts/);
  });

  it.each([
    { what: "nothing has decimals", lines: ["d|1|234.50", "d|2|345.50"], options: {} },
    { what: "the next column is named", lines: ["d|7.00|", "d|1|234.50"], options: { named: [0, 1, 2] } },
    { what: "the amount has decimals", lines: ["d|1.00|234.50"], options: {} },
    { what: "the next column is no such part", lines: ["d|7.00|", "d|1|23.50", "d|1|234", "d|1|a"], options: {} },
    { what: "the amount is longer", lines: ["d|7.00|", "d|1234|234.50"], options: {} },
  ])("does not mind where $what", ({ lines, options }) => {
    expect(look(lines, options)).toBe("");
  });
});
