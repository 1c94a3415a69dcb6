import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { queueJobId } from "./index.ts";
import { type QueueItem, readQueueItem } from "./queue-item.ts";

const keys = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 300 }),
  // Keys that look like the seams of an id.
  fc.string({ unit: fc.constantFrom(".", "g", "0", "1", ":", "~", "%", "-", "{", "}"), minLength: 1, maxLength: 12 }),
);
const items: fc.Arbitrary<QueueItem> = fc.record({
  runId: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String),
  key: keys.filter((key) => key.isWellFormed() && !key.includes("\0") && key.length <= 1_000),
  businessDate: fc
    .integer({ min: 0, max: 36_500 })
    .map((days) => Temporal.PlainDate.from("2000-01-01").add({ days }).toString()),
  generation: fc.integer({ min: 0, max: 20 }),
});

const item: QueueItem = { runId: "12", key: "77", businessDate: "2026-11-01", generation: 0 };

describe("queueJobId", () => {
  it("reads as run, date, key and generation", () => {
    expect(queueJobId({ runId: "12", key: "77 a:b", businessDate: "2026-11-01", generation: 3 })).toBe(
      "r12.2026-11-01.77%20a%3Ab.g3",
    );
  });

  it("is what BullMQ takes: no colon, no integer, bounded, whatever the key", () => {
    fc.assert(
      fc.property(items, (any) => {
        const id = queueJobId(any);
        expect(id).not.toContain(":");
        expect(String(Number.parseInt(id, 10))).not.toBe(id);
        expect(id.length).toBeLessThanOrEqual(300);
      }),
    );
  });

  it("differs for different items and is equal for equal ones", () => {
    const alike = fc
      .tuple(items, items)
      .map(([one, other]) => [one, { ...other, runId: one.runId, businessDate: one.businessDate }] as const);
    fc.assert(
      fc.property(fc.oneof(fc.tuple(items, items), alike), ([one, other]) => {
        expect(queueJobId(one) === queueJobId(other)).toBe(isDeepStrictEqual(one, other));
        expect(queueJobId({ ...one })).toBe(queueJobId(one));
      }),
      { numRuns: 500 },
    );
  });

  it("keeps keys apart that are longer than an id may be", () => {
    const long = "क".repeat(900);
    const ids = [long, `${long}x`, `${long}y`].map((key) => queueJobId({ ...item, key }));
    expect(new Set(ids).size).toBe(3);
  });

  it("does not let a key pass for the digest of another", () => {
    const digest = queueJobId({ ...item, key: "x".repeat(500) }).split(".")[2] ?? "";
    expect(digest).toMatch(/^~/);
    expect(queueJobId({ ...item, key: digest })).not.toBe(queueJobId({ ...item, key: "x".repeat(500) }));
  });

  it.each([
    ["an empty key", { key: "" }],
    ["half a surrogate pair", { key: "a\ud800" }],
    ["a NUL", { key: "a\0b" }],
    ["a run id with a leading zero", { runId: "012" }],
    ["a date that does not exist", { businessDate: "2026-02-30" }],
    ["half a generation", { generation: 0.5 }],
  ])("throws for %s", (_name, wrong) => {
    expect(() => queueJobId({ ...item, ...wrong })).toThrow(/queue item of key/);
  });
});

describe("readQueueItem", () => {
  it("gives back what travelled as JSON", () => {
    fc.assert(
      fc.property(items, (any) => {
        expect(readQueueItem(JSON.parse(JSON.stringify(any)))).toEqual({ item: any });
      }),
    );
  });

  it.each([
    [undefined, "data: "],
    ["text", "data: "],
    [{ ...item, runId: 12 }, "runId: "],
    [{ ...item, amountMinor: "200000" }, "amountMinor"],
    [{ runId: "12" }, "key: "],
  ])("says what is wrong with %j", (data, fault) => {
    expect(readQueueItem(data)).toEqual({ fault: expect.stringContaining(fault) });
  });
});
