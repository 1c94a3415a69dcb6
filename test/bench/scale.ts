/** How large the benchmark's data are. */

export interface Scale {
  readonly name: "full" | "small";
  /** Restaurants of an ordinary night. */
  readonly keyCount: number;
  readonly salesPerKey: number;
  /** Nights that were applied before the first one that is measured. */
  readonly historyDays: number;
  /** Keys of the ledger that has grown. */
  readonly manyKeyCount: number;
  /** Lines of a file that is imported, where two builds are compared. */
  readonly importLineCount: number;
  /** Nights of the ledger that is verified: with `keyCount` entries each. */
  readonly verifiedDays: number;
  /** PostgreSQL's shared buffers, in MB. */
  readonly buffersMb: number;
  /** What the data take on the disk at most, write-ahead log included. */
  readonly diskGib: number;
  /** How long a pair takes, as a share of what it takes at full scale; for the estimate. */
  readonly effort: number;
  /** Minutes after which the whole is given up. */
  readonly limitMinutes: number;
}

export const scales: Readonly<Record<Scale["name"], Scale>> = {
  full: {
    name: "full",
    keyCount: 20_000,
    salesPerKey: 10,
    historyDays: 35,
    manyKeyCount: 1_000_000,
    importLineCount: 200_000,
    verifiedDays: 50,
    buffersMb: 2_048,
    diskGib: 20,
    effort: 1,
    limitMinutes: 60,
  },
  // Seconds of work: proves that every row runs. Its figures say nothing, and no bound is held against them.
  small: {
    name: "small",
    keyCount: 400,
    salesPerKey: 3,
    historyDays: 2,
    manyKeyCount: 4_000,
    importLineCount: 1_000,
    verifiedDays: 3,
    buffersMb: 64,
    diskGib: 1,
    effort: 0.1,
    limitMinutes: 5,
  },
};
