import { describe, expect, it } from "vitest";
import { rupees } from "./rupees.ts";

describe("rupees", () => {
  it.each([
    [4_000_000n, "40,000"],
    [4_200_000n, "42,000"],
    [-300_000n, "-3,000"],
    [0n, "0"],
    [4_500_001n, "45,000.01"],
    [4_500_050n, "45,000.50"],
  ])("tells %d paise as %s", (minor, text) => {
    expect(rupees(minor)).toBe(text);
  });
});
