import { describe, expect, it } from "vitest";
import { keySlot } from "./key-slot.ts";

describe("keySlot", () => {
  // What `cluster keyslot` of Redis 7.0 answers.
  it.each([
    ["123456789", 12_739],
    ["nightwriter:lease:restaurant-totals/7", 10_421],
    ["a:lease:{x}/1", 16_287],
    ["{x}", 16_287],
    ["a{}b", 13_694],
    ["a{{x}}", 11_068],
    ["a}b{x}", 16_287],
    ["ключ", 10_303],
  ])("of %j is the cluster's", (key, slot) => {
    expect(keySlot(key)).toBe(slot);
  });
});
