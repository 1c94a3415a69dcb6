/**
 * What this process did, counted. The counters only grow, so that whoever exports them can compute rates; the summary
 * that is logged is the difference between two looks.
 */
import type { Clock } from "@nightwriter/core";
import type { ItemOutcome } from "@nightwriter/ledger";

type Outcomes = Record<ItemOutcome["outcome"], number>;

export interface Counters extends Outcomes {
  /** Guarded statements, each with those it took to say why an item was not applied. */
  batches: number;
  /** Those among them that were refused, whole or in part, because their term was over, whatever became of their items since. */
  refusedWrites: number;
  /** Queue jobs that went back to the queue to be delivered again. */
  postponed: number;
}

/** What happened since the look before. */
export interface Lap {
  readonly seconds: number;
  readonly items: number;
  readonly itemsPerSecond: number;
  readonly meanBatchSize: number;
  /** Counters that moved, by how much. */
  readonly counts: Partial<Counters>;
}

export interface Tally {
  readonly counters: Readonly<Counters>;
  /** By partition, when the last entry was applied, in milliseconds of the monotonic clock. */
  readonly entryTimes: ReadonlyMap<string, number>;
  countBatch(partition: string, outcomes: readonly ItemOutcome[]): void;
  countPostponed(): void;
  lap(): Lap;
}

const outcomes = ["applied", "duplicate", "fenced", "conflict", "withdrawn", "parked", "failing", "unknown"] as const;
const names = [...outcomes, "batches", "refusedWrites", "postponed"] as const satisfies (keyof Counters)[];

/** Whether the item's statement came too late for its term. Others may have applied the item by then. */
export function metAnotherTerm(outcome: ItemOutcome): boolean {
  return outcome.outcome === "fenced" || (outcome.outcome === "duplicate" && outcome.storedToken !== undefined);
}

export function createTally(clock: Clock): Tally {
  const counters = zero();
  let before = zero();
  let beforeMs = clock.monotonicMs();
  const entryTimes = new Map<string, number>();
  return {
    counters,
    entryTimes,
    countBatch(partition, batch) {
      const { applied } = counters;
      for (const { outcome } of batch) counters[outcome] += 1;
      counters.batches += 1;
      if (batch.some(metAnotherTerm)) counters.refusedWrites += 1;
      if (counters.applied > applied) entryTimes.set(partition, clock.monotonicMs());
    },
    countPostponed() {
      counters.postponed += 1;
    },
    lap() {
      const nowMs = clock.monotonicMs();
      const lap = difference(before, counters, nowMs - beforeMs);
      before = { ...counters };
      beforeMs = nowMs;
      return lap;
    },
  };
}

function zero(): Counters {
  return {
    applied: 0,
    duplicate: 0,
    fenced: 0,
    conflict: 0,
    withdrawn: 0,
    parked: 0,
    failing: 0,
    unknown: 0,
    batches: 0,
    refusedWrites: 0,
    postponed: 0,
  };
}

function difference(before: Counters, after: Counters, ms: number): Lap {
  const moved = names.map((name) => [name, after[name] - before[name]] as const).filter(([, by]) => by > 0);
  const counts: Partial<Counters> = Object.fromEntries(moved);
  const items = outcomes.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  const batches = counts.batches ?? 0;
  return {
    seconds: Math.round(ms / 100) / 10,
    items,
    itemsPerSecond: ms === 0 ? 0 : Math.round((items * 1_000) / ms),
    meanBatchSize: batches === 0 ? 0 : Math.round((items * 10) / batches) / 10,
    counts,
  };
}
