import { describe, expect, it } from "vitest";
import { SumLines } from "./sum-lines.ts";

type Line = readonly [restaurant: string, wall: string, amount: number];

/** The lines that are taken for sums, counted from one. */
function sumsOf(lines: readonly Line[], { hasIds = false, hasTime = false } = {}): number[] {
  const sums = new SumLines({ hasIds, hasTime });
  for (const [index, [restaurant, wall, amount]] of lines.entries()) {
    const wallMs = Date.parse(`${wall}Z`);
    const day = Math.floor(wallMs / 86_400_000);
    sums.take({ line: index + 1, restaurant, day, wallMs, amountMinor: BigInt(amount) });
  }
  return sums.found.map(({ line }) => line);
}

const day = "2024-01-05T00:00";

describe("SumLines", () => {
  it("finds a restaurant of its own that is the sum of all lines", () => {
    const lines: Line[] = [
      ["Soho", day, 30],
      ["Camden", day, 20],
      ["Soho", "2024-01-06T00:00", 7],
      ["Grand Total", "2024-01-07T00:00", 57],
    ];
    expect(sumsOf(lines)).toEqual([4]);
    expect(sumsOf(lines, { hasIds: true })).toEqual([4]);
    expect(sumsOf([...lines, ["Grand Total", day, 3]])).toEqual([]);
  });

  it("finds subtotals, and the total of what they leave", () => {
    const lines: Line[] = [
      ["Soho", day, 1],
      ["Soho", day, 2],
      ["Soho Total", day, 3],
      ["Camden", day, 10],
      ["Camden", day, 20],
      ["Camden Total", day, 30],
      ["Total", day, 33],
    ];
    expect(sumsOf(lines)).toEqual([3, 6, 7]);
  });

  it("finds a line without a time of its own", () => {
    const sold: Line[] = [
      ["soho", "2024-01-05T12:00", 11],
      ["soho", "2024-01-05T12:05", 22],
    ];
    const withTime = { hasTime: true };
    expect(sumsOf([...sold, ["soho", "2024-01-05T12:05", 33]], withTime)).toEqual([3]);
    expect(sumsOf([...sold, ["soho", "2024-01-06T00:00", 33]], withTime)).toEqual([3]);
    expect(sumsOf([...sold, ["soho", "2024-01-05T12:06", 33]], withTime)).toEqual([]);
    expect(sumsOf([...sold, ["soho", "2024-01-05T12:05", 33]], { hasTime: true, hasIds: true })).toEqual([]);
  });

  it("finds one in the first line, and none in the middle, where the lines of an order may come to another one", () => {
    const sold: Line[] = [
      ["soho", day, 1],
      ["soho", day, 2],
      ["soho", day, 3],
      ["soho", day, 20],
    ];
    expect(sumsOf(sold)).toEqual([]);
    expect(sumsOf([["All", day, 26], ...sold])).toEqual([1]);
    expect(sumsOf([["soho", day, 26], ...sold])).toEqual([1]);
    expect(sumsOf([["soho", "2024-01-04T12:00", 26], ...sold], { hasTime: true })).toEqual([]);
  });

  it("does not take one line, repeated, for a sum, nor lines without an amount", () => {
    expect(
      sumsOf([
        ["soho", day, 0],
        ["soho", day, 5],
        ["soho", day, 5],
        ["soho", day, 0],
      ]),
    ).toEqual([]);
    expect(
      sumsOf([
        ["soho", day, 5],
        ["soho", day, -5],
        ["soho", day, 0],
      ]),
    ).toEqual([]);
    expect(
      sumsOf([
        ["soho", day, 10],
        ["soho", "2024-01-06T00:00", 20],
        ["soho", "2024-01-07T00:00", 30],
      ]),
    ).toEqual([]);
  });
});
