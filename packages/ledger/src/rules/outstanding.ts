/** Differences between entries and sources that somebody still has to do something about. */

/**
 * - `due`: an item is on its way.
 * - `parked`: an item's own data could not be added; it waits for a person.
 * - `cancelled`: an operator took the item, or its run, back.
 * - `unplanned`: touched since the last plan; the next night takes it up.
 */
export type OutstandingReason = "due" | "parked" | "cancelled" | "unplanned";

/** A pair whose entries are not yet what its source says. */
export interface Outstanding {
  readonly reason: OutstandingReason;
  readonly key: string;
  readonly businessDate: Temporal.PlainDate;
  /** What its total lacks, in minor units. */
  readonly amountMinor: bigint;
  /** The run whose item waits; undefined for `unplanned`. */
  readonly runId: bigint | undefined;
  /** Since when: the plan that made the item, or, for `unplanned`, the plan that came too early. Undefined: there was none yet. */
  readonly since: Temporal.Instant | undefined;
  readonly age: Temporal.Duration | undefined;
}

/** All outstanding pairs of one reason. */
export interface OutstandingSum {
  readonly reason: OutstandingReason;
  readonly pairCount: number;
  readonly amountMinor: bigint;
}

/** A pair whose entries are not what its source says, whatever the reason. */
export interface DifferingPair {
  readonly status: OutstandingReason | "violated" | "acknowledged";
  readonly key: string;
  readonly businessDate: Temporal.PlainDate;
  /** The run whose item waits, if one does. */
  readonly runId: bigint | undefined;
  /** What the source adds up to, and what the entries do, in minor units. */
  readonly sourceMinor: bigint;
  readonly enteredMinor: bigint;
  /** As in {@link Outstanding}. */
  readonly since: Temporal.Instant | undefined;
}
