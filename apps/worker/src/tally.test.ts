import type { ItemOutcome } from "@nightwriter/ledger";
import { describe, expect, it } from "vitest";
import { createTally } from "./tally.ts";

describe("tally", () => {
  it("sums up what happened since the look before", () => {
    let nowMs = 5_000;
    const tally = createTally({ now: () => Temporal.Instant.fromEpochMilliseconds(0), monotonicMs: () => nowMs });
    const conflict: ItemOutcome = { outcome: "conflict" };
    const duplicate: ItemOutcome = { outcome: "duplicate" };

    tally.countBatch([duplicate, duplicate, conflict]);
    tally.countBatch([duplicate]);
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
});
