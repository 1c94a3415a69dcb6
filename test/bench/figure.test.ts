import { describe, expect, test } from "vitest";
import { type Figure, isReached, measurePairs, spreadOf } from "./figure.ts";

const figure: Figure = {
  name: "it",
  what: "one ÷ other",
  unit: "items/s",
  valueUnit: "",
  bound: { atLeast: 2 },
  pairs: [],
};
const pairsOf = (...values: number[]) => values.map((value) => ({ ours: value, theirs: 1, value }));

describe("spreadOf", () => {
  test("an odd number of values has the middle one as its median", () => {
    expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
  });

  test("an even number of values has the mean of the middle two", () => {
    expect(spreadOf([4, 1, 3, 100])).toEqual({ median: 3.5, min: 1, max: 100 });
  });
});

describe("isReached", () => {
  test("a lower bound holds for the median, whatever the smallest value is", () => {
    expect(isReached({ ...figure, pairs: pairsOf(0, 2, 3) })).toBe(true);
    expect(isReached({ ...figure, pairs: pairsOf(0, 1.99, 3) })).toBe(false);
  });

  test("an upper bound is the other way round", () => {
    const bound = { atMost: 2 };
    expect(isReached({ ...figure, bound, pairs: pairsOf(1, 2, 9) })).toBe(true);
    expect(isReached({ ...figure, bound, pairs: pairsOf(1, 2.01, 9) })).toBe(false);
  });
});

describe("measurePairs", () => {
  test("measures one pair more than asked for, and throws the first away", async () => {
    const measured: number[] = [];
    const pairs = await measurePairs(2, (pair) => {
      measured.push(pair);
      return Promise.resolve({ ours: pair * 10, theirs: 4 });
    });
    expect(measured).toEqual([0, 1, 2]);
    expect(pairs).toEqual([
      { ours: 10, theirs: 4, value: 2.5 },
      { ours: 20, theirs: 4, value: 5 },
    ]);
  });
});
