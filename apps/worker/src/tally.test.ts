import type { ItemOutcome } from "@nightwriter/ledger";
import { describe, expect, it } from "vitest";
import { createTally } from "./tally.ts";

describe("tally", () => {
  it("sums up what happened since the look before", () => {
    let nowMs = 5_000;
    const tally = createTally({ now: () => Temporal.Instant.fromEpochMilliseconds(0), monotonicMs: () => nowMs });
    const conflict: ItemOutcome = { outcome: "conflict" };
    const duplicate: ItemOutcome = { outcome: "duplicate" };

    tally.countBatch("totals/1", [duplicate, duplicate, conflict]);
    tally.countBatch("totals/1", [duplicate]);
    nowMs += 2_000;
    expect(tally.lap()).toEqual({
      seconds: 2,
      items: 4,
      itemsPerSecond: 2,
      meanBatchSize: 2,
      counts: { duplicate: 3, conflict: 1, batches: 2 },
    });

    tally.countPostponed();
    nowMs += 1_000;
    expect(tally.lap()).toEqual({
      seconds: 1,
      items: 0,
      itemsPerSecond: 0,
      meanBatchSize: 0,
      counts: { postponed: 1 },
    });
    expect(tally.counters).toMatchObject({ duplicate: 3, conflict: 1, batches: 2, postponed: 1 });
  });

  it("counts a statement as refused once, however many of its items were fenced", () => {
    const tally = createTally({ now: () => Temporal.Instant.fromEpochMilliseconds(0), monotonicMs: () => 0 });
    const fenced: ItemOutcome = { outcome: "fenced", storedToken: 2n };
    tally.countBatch("totals/1", [fenced, fenced, { outcome: "duplicate" }]);
    tally.countBatch("totals/1", [{ outcome: "duplicate" }]);
    expect(tally.counters).toMatchObject({ batches: 2, refusedWrites: 1, fenced: 2 });
    // The sleeper's statement was refused, though others had applied all of its items by then.
    tally.countBatch("totals/1", [{ outcome: "duplicate", storedToken: 2n }]);
    expect(tally.counters).toMatchObject({ batches: 3, refusedWrites: 2, fenced: 2, duplicate: 3 });
  });

  it("knows when each partition had its last entry", () => {
    let nowMs = 5_000;
    const tally = createTally({ now: () => Temporal.Instant.fromEpochMilliseconds(0), monotonicMs: () => nowMs });
    const applied: ItemOutcome = {
      outcome: "applied",
      deltaMinor: 1n,
      sourceCount: 1n,
      totalAfter: 1n,
      versionAfter: 1n,
    };
    tally.countBatch("totals/1", [applied]);
    nowMs += 100;
    tally.countBatch("totals/1", [{ outcome: "duplicate" }]);
    tally.countBatch("totals/2", [applied, { outcome: "duplicate" }]);
    expect([...tally.entryTimes]).toEqual([
      ["totals/1", 5_000],
      ["totals/2", 5_100],
    ]);
  });
});
