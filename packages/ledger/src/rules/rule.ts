/** What verify proves, rule by rule, and how a broken one is told. */

export type RuleName =
  | "one-entry-per-item"
  | "version-sequence"
  | "totals-chain"
  | "total-row"
  | "token-order"
  | "query-order"
  | "snapshot-order"
  | "delta-from-snapshot"
  | "entries-equal-sources"
  | "finished-runs-complete"
  | "items-whole"
  | "one-night-per-date"
  | "within-term"
  | "terms-whole"
  | "guards-in-place";

/** What each rule claims, in the order of the report. */
export const claims: Readonly<Record<RuleName, string>> = {
  "one-entry-per-item": "each entry belongs to an item of a run of the job, and no item has two",
  "version-sequence": "the entries of a key have the versions 1 to n, without gap or fork",
  "totals-chain": "each total is the total before plus the delta",
  "total-row": "each key has one row, with the version, total and token of its last entry",
  "token-order": "fencing tokens never fall along the versions of a key",
  "query-order": "no entry was summed by an earlier version of the source query than the entry before it",
  "snapshot-order":
    "each entry's snapshot saw the entry before it and was taken before the entry was written, and no plan's lies ahead",
  "delta-from-snapshot": "each delta is what its snapshot saw of the source, minus the earlier deltas of its pair",
  "entries-equal-sources":
    "the entries of each (key, business date) add up to its source, or the difference is still to come",
  "finished-runs-complete": "each item of a finished run has its entry, or was parked or cancelled",
  "items-whole":
    "each item is there once, belongs to a run, waits in its key's partition, and is not withdrawn once it has its entry",
  "one-night-per-date": "each business date has one nightly run at most",
  "within-term": "each entry was written under a term of the job, and before that term had ended",
  "terms-whole": "each partition has a term with a token of its own, and no token is above the job's counter",
  "guards-in-place": "the constraints and triggers that the tables are guarded by are there, valid and enabled",
};

/** One fact that contradicts a rule. */
export interface Violation {
  /** Its id: a hash of all that follows. Any other number makes it another finding. */
  readonly finding: string;
  readonly rule: RuleName;
  /** Absent where it is about the job as a whole: a run, a partition, a constraint. */
  readonly key: string | undefined;
  /** Absent where it is about a key as a whole. */
  readonly businessDate: Temporal.PlainDate | undefined;
  readonly runId: bigint | undefined;
  /** The version of the entry that it is about. */
  readonly version: bigint | undefined;
  /** What `expected` and `actual` are: a column of the entry or of the key's row, a number of something, what is missing. */
  readonly measure: string;
  /** Undefined: nothing should be there, or nobody can say what. Amounts are minor units. */
  readonly expected: bigint | undefined;
  /** Undefined: nothing is there. */
  readonly actual: bigint | undefined;
}

/** A violation that somebody looked into, as it stands: it does not count as one. */
export interface Acknowledged extends Violation {
  readonly reason: string;
  readonly actor: string;
  readonly acknowledgedAt: Temporal.Instant;
}

/** What a check found: how many violations of a rule, and the first of them; acknowledged ones apart. */
export interface Finding {
  readonly rule: RuleName;
  readonly violationCount: number;
  readonly violations: readonly Violation[];
  readonly acknowledgedCount: number;
  readonly acknowledged: readonly Acknowledged[];
}

/** For a person, in one line. */
export function describeViolation(violation: Violation): string {
  const { rule, key, businessDate, runId, version, measure, expected, actual } = violation;
  const where = [
    key === undefined ? [] : [`key ${key}`],
    businessDate === undefined ? [] : [businessDate.toString()],
    version === undefined ? [] : [`version ${version}`],
    runId === undefined ? [] : [`run ${runId}`],
  ].flat();
  return `${[rule, ...(where.length === 0 ? [] : [where.join(", ")])].join(": ")}: ${measure} ${actual ?? "missing"}, expected ${expected ?? "none"}`;
}
