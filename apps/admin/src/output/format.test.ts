import { describe, expect, it } from "vitest";
import { formatCount, formatDuration, plural } from "./format.ts";

describe("formatDuration", () => {
  it.each([
    [40, "0.0 s"],
    [1_234, "1.2 s"],
    [9_940, "9.9 s"],
    [9_960, "10 s"],
    [59_400, "59 s"],
    [59_600, "1 min 0 s"],
    [185_000, "3 min 5 s"],
    [3_599_600, "1 h 0 min"],
    [7_800_000, "2 h 10 min"],
    [259_200_000, "3 d"],
  ])("writes %s ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe("formatCount", () => {
  it("groups thousands, of bigints too", () => {
    expect(formatCount(1_234_567n)).toBe("1,234,567");
  });
});

describe("plural", () => {
  it("counts one as one and none as many", () => {
    expect([plural(1, "item"), plural(0, "item"), plural(2n, "entry", "entries")]).toEqual([
      "1 item",
      "0 items",
      "2 entries",
    ]);
  });
});
