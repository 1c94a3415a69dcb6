import { describe, expect, it } from "vitest";
import { partitionOf } from "./index.ts";

describe("partitionOf", () => {
  it("is the number that PostgreSQL computes for the same key", () => {
    // select nightwriter.partition_of(key, 16), asked once of PostgreSQL 18; test/database asks again on every run.
    expect(["77", "Kensington", "café", ""].map((key) => partitionOf(key, 16))).toEqual([9, 5, 4, 9]);
  });
  it("spreads 16,000 keys over 16 partitions with none a tenth above or below its share", () => {
    const counts = Array.from({ length: 16 }, () => 0);
    for (let key = 0; key < 16_000; key++) {
      const partition = partitionOf(`restaurant-${key}`, 16);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(900);
    expect(Math.max(...counts)).toBeLessThan(1100);
  });
});
