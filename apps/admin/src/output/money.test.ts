import { describe, expect, it } from "vitest";
import { formatMinor } from "./money.ts";

describe("formatMinor", () => {
  it.each([
    [4_000_000n, 2, "40000.00"],
    [5n, 2, "0.05"],
    [-5n, 2, "-0.05"],
    [0n, 2, "0.00"],
    [1_500n, 0, "1500"],
    [-1_234n, 3, "-1.234"],
    [9_223_372_036_854_775_807n, 2, "92233720368547758.07"],
  ])("writes %s minor units with %s digits as %s", (minor, digits, text) => {
    expect(formatMinor(minor, digits)).toBe(text);
  });
});
