import { describe, expect, it } from "vitest";
import { medianInterval, verdictOf } from "./interval.ts";

/** n values around a middle, `step` apart. */
function around(middle: number, count: number, step: number): number[] {
  return Array.from({ length: count }, (_, index) => middle + (index - (count - 1) / 2) * step);
}

describe("medianInterval", () => {
  it("has no ends for fewer than six values", () => {
    expect(medianInterval(around(1, 5, 0.001))).toMatchObject({ low: -Infinity, high: Infinity });
  });
  it("is from the least to the greatest of six, and from the 8th to the 18th of 25", () => {
    const six = around(1, 6, 0.01);
    expect(medianInterval(six)).toMatchObject({ low: six[0], high: six[5] });
    const many = around(1, 25, 0.01);
    expect(medianInterval(many)).toMatchObject({ median: many[12], low: many[7], high: many[17] });
  });
  it("does not depend on the order of the values", () => {
    const values = around(1, 9, 0.02);
    expect(medianInterval(values.toReversed())).toEqual(medianInterval(values));
  });
});

describe("verdictOf", () => {
  it("calls a build slower whose median is below 0.97 and whose interval leaves 1 out", () => {
    expect(verdictOf(medianInterval(around(0.95, 10, 0.005)))).toBe("slower");
  });
  it("calls it inconclusive where 1 is possible, and where the interval is wide or there is none", () => {
    expect(verdictOf(medianInterval(around(0.95, 10, 0.02)))).toBe("inconclusive");
    expect(verdictOf(medianInterval(around(1.1, 10, 0.05)))).toBe("inconclusive");
    expect(verdictOf(medianInterval([0.9, 0.9]))).toBe("inconclusive");
  });
  it("calls it no slower from 0.97 on, however surely it is below 1", () => {
    expect(verdictOf(medianInterval(around(0.975, 10, 0.001)))).toBe("no slower");
    expect(verdictOf(medianInterval(around(1, 10, 0.005)))).toBe("no slower");
  });
});
