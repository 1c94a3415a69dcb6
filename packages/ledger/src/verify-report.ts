/** What verify answers. */
import type { Outstanding, OutstandingSum } from "./rules/outstanding.ts";
import type { Acknowledged, RuleName, Violation } from "./rules/rule.ts";

export interface RuleReport {
  readonly rule: RuleName;
  /** What it claims, in words. */
  readonly claim: string;
  /**
   * - `acknowledged`: it is broken, and somebody has looked into each finding.
   * - `not applicable`: the job's source cannot say which rows a snapshot saw.
   * - `not proved`: it is about sources, and this build's source query is not the one in force.
   */
  readonly status: "holds" | "violated" | "acknowledged" | "not applicable" | "not proved";
  readonly violationCount: number;
  /** The first of them, by key. */
  readonly violations: readonly Violation[];
  /** Findings that somebody looked into and that are as they were then: no violations, counted whole. */
  readonly acknowledgedCount: number;
  readonly acknowledged: readonly Acknowledged[];
}

/**
 * One pass over the data, of which `pairs` has one for each slice of dates, and how long it took. Passes run two at a time, so
 * their durations do not add up to the whole.
 */
export interface StepReport {
  readonly step: string;
  readonly durationMs: number;
}

/** A cluster that the data has lived in. */
export interface EpochReport {
  readonly epoch: number;
  readonly startedAt: Temporal.Instant;
}

export interface VerifyReport {
  readonly job: string;
  readonly verifiedAt: Temporal.Instant;
  readonly from: Temporal.PlainDate | undefined;
  readonly to: Temporal.PlainDate | undefined;
  /** No rule is violated. What is outstanding or acknowledged does not stand against it. */
  readonly clean: boolean;
  /** Findings of all rules that somebody looked into. */
  readonly acknowledgedCount: number;
  /** Rules that are `not proved`: nothing is known of them. */
  readonly unproved: readonly RuleName[];
  /** All rules, in the order of `claims`. */
  readonly rules: readonly RuleReport[];
  /** What is still to come, by reason, counted whole. */
  readonly outstandingSums: readonly OutstandingSum[];
  /** The oldest pairs of each reason. */
  readonly outstanding: readonly Outstanding[];
  readonly entryCount: number;
  readonly keyCount: number;
  /** Entries that an earlier version of the job's source query summed, whose deltas therefore cannot be computed again. */
  readonly earlierQueryCount: number;
  /** Entries under terms that had ended before ended terms were kept: `within-term` is not applicable to these. */
  readonly earlierTermCount: number;
  /** The sum of all keys' totals, in minor units of whatever currencies they are in. */
  readonly totalMinor: bigint;
  /** Oldest first. More than one: the data was restored into another cluster when each of the later ones started. */
  readonly epochs: readonly EpochReport[];
  readonly steps: readonly StepReport[];
  readonly durationMs: number;
}
