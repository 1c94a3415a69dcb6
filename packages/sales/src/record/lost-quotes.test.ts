import { describe, expect, it } from "vitest";
import { LostQuotes } from "./lost-quotes.ts";

type Options = {
  readonly decimalComma?: boolean;
  readonly named?: readonly number[];
  readonly amounts?: readonly number[];
};

/** The lines that were recorded before, as `known`, are only learned from. */
function look(lines: readonly string[], options: Options = {}, known: readonly string[] = []): string {
  const { decimalComma = false, named = [0, 1], amounts = [1] } = options;
  const quotes = new LostQuotes({ amounts: amounts.map((at) => ({ at, decimalComma })), named: new Set(named) });
  for (const line of known) quotes.learn(line.split("|"));
  for (const [index, line] of lines.entries()) quotes.look(line.split("|"), index + 2);
  try {
    quotes.assertNone("x.csv", new Set());
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("LostQuotes", () => {
  it.each<{ what: string; lines: readonly string[]; options?: Options }>([
    { what: "thousands", lines: ["d|7.00|", "d|1|234.50"] },
    { what: "millions", lines: ["d|1|234|567.50", "d|7.00||"] },
    { what: "lakhs", lines: ["d|7.00||", "d|1|26|472.50"] },
    { what: "a currency sign", lines: ["d|£7.00|", "d|-£1|234.50"] },
    { what: "a code before", lines: ["d|GBP 7.00|", "d|GBP 1|234.50"] },
    { what: "rupees", lines: ["d|Rs. 7.00|", "d|Rs. 1|234.50/-"] },
    { what: "a sign and a currency behind", lines: ["d|7.00 €|", "d|1|234.50 €-"] },
    { what: "a code behind", lines: ["d|7.00 EUR|", "d|1|234.50 EUR"] },
    { what: "a decimal comma", lines: ["d|7,00|", "d|12|50"], options: { decimalComma: true } },
    { what: "a decimal comma behind thousands", lines: ["d|7,00|", "d|1.234|50 €"], options: { decimalComma: true } },
  ])("finds a number that is cut: $what", ({ lines, options }) => {
    expect(look(lines, options)).toMatch(/^x\.csv: line \d: the amount .* lost its quotes; .*--whole-amounts/);
  });

  it("knows from lines that are not recorded now how amounts are written", () => {
    expect(look(["d|1|234.50"], {}, ["d|7.00|"])).toMatch(/^x\.csv: line 2: /);
    expect(look(["d|7.00|"], {}, ["d|1|234.50"])).toBe("");
  });

  it.each<{ what: string; lines: readonly string[]; options?: Options }>([
    { what: "nothing has decimals", lines: ["d|1|234.50", "d|2|345.50"] },
    { what: "the next column is named", lines: ["d|7.00|", "d|1|234.50"], options: { named: [0, 1, 2] } },
    { what: "the amount has decimals", lines: ["d|1.00|234.50"] },
    { what: "the next column is no such part", lines: ["d|7.00|", "d|1|23.50", "d|1|234", "d|1|a", "d|1|234.50 kg"] },
    { what: "the amount is longer", lines: ["d|7.00|", "d|1234|234.50"] },
    {
      what: "only another column has decimals",
      lines: ["d|1|234.50|234.50"],
      options: { amounts: [1, 3], named: [0, 1, 3] },
    },
  ])("does not mind where $what", ({ lines, options }) => {
    expect(look(lines, options)).toBe("");
  });
});
