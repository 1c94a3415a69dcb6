/**
 * How long a lease should be: pure arithmetic, so that the price of each length is known before it is paid.
 *
 * A lease pulls two ways. Longer, and after a crash the work waits longer, since nobody may take what nobody has given
 * back. Shorter, and more runs are slower than it. Renewal takes the second pull away for all that is merely slow: a
 * holder that can renew outlives nothing. What renewal cannot do is renew for a process that is frozen, nor make a store
 * remember what it had not copied yet. Neither harms a total, which the ledger guards; both are work done twice.
 */
import { invariant } from "@nightwriter/core";

/** A lease is renewed every third of its length: two renewals in a row may fail before it ends. */
const RENEWALS_PER_LEASE = 3;

/** A holder stops trusting its lease a tenth before its end, for what clocks and answers are late by. */
const MARGINS_PER_LEASE = 10;

/** So many times the 99th percentile of a run: a lease in which almost all end even if no renewal gets through. */
const LEASES_PER_P99 = 1.5;

/** Below, an ordinary pause (garbage, a busy disk, a machine that moves house) costs a hand-over, and a crash is seldom. */
const SHORTEST_MS = 10_000;
/** What LEASE_MS takes at least and at most. */
const LOWEST_MS = 1_000;
const LONGEST_MS = 600_000;

/** What is known of the work and of the store. Times in milliseconds. */
export interface LeaseFacts {
  readonly leaseMs: number;
  /** How often something is done under a lease, in a night. */
  readonly runs: number;
  /** The share of these that takes longer than the lease, from 0 to 1. */
  readonly slowShare: number;
  /** What 99 of 100 runs take at most. Undefined: not known, and no length can be derived from it. */
  readonly p99Ms?: number | undefined;
  /** How many leases the store grants or renews per second. */
  readonly grantsPerSecond: number;
  /** How far a replica of the store is behind. 0: the store copies before it answers, or has no replica. */
  readonly replicationDelayMs: number;
  /** A length that somebody thinks of instead. */
  readonly compareLeaseMs: number;
}

/** A lease and what follows from its length. */
export interface LeaseLengths {
  readonly leaseMs: number;
  readonly renewalMs: number;
  readonly marginMs: number;
}

export interface LeasePlan extends LeaseLengths {
  readonly runs: number;
  /** Runs that are still going when their lease ends, if nobody renews it: expected, so it may be a fraction. */
  readonly outliveWithoutRenewal: number;
  /** The same if it is renewed. Only a process that can do nothing at all, not even renew, outlives its lease then. */
  readonly outliveWithRenewal: number;
  /** A freeze up to this long is outlived for certain: the lease was renewed a whole interval before it, at worst. */
  readonly surePauseMs: number;
  /** How long work waits after its holder has crashed, at most: right after a renewal, the whole lease. */
  readonly longestWaitMs: number;
  readonly compared: {
    readonly leaseMs: number;
    readonly longestWaitMs: number;
    /** Its longest wait over that of the plan. */
    readonly ratio: number;
  };
  /** Leases that a failover forgets: granted, and not yet on the replica. On average. */
  readonly grantsNotCopied: number;
  readonly recommendation: LeaseLengths & { readonly reason: string };
}

/**
 * Says what a lease of this length costs and what length would be better. Nothing is measured here: see
 * {@link measureRuns} for numbers of one's own.
 *
 * @example
 * planLease({ leaseMs: 30_000, runs: 1_000, slowShare: 0.01, grantsPerSecond: 2, replicationDelayMs: 400, compareLeaseMs: 600_000 })
 *   .outliveWithoutRenewal; // 10
 */
export function planLease(facts: LeaseFacts): LeasePlan {
  const { leaseMs, runs, slowShare, grantsPerSecond, replicationDelayMs, compareLeaseMs } = facts;
  invariant(leaseMs > 0 && compareLeaseMs > 0, "a lease has a length");
  invariant(slowShare >= 0 && slowShare <= 1, "a share is between 0 and 1");
  const lengths = lengthsOf(leaseMs);
  return {
    ...lengths,
    runs,
    outliveWithoutRenewal: exactly(runs * slowShare),
    outliveWithRenewal: 0,
    surePauseMs: leaseMs - lengths.renewalMs,
    longestWaitMs: leaseMs,
    compared: {
      leaseMs: compareLeaseMs,
      longestWaitMs: compareLeaseMs,
      ratio: exactly(compareLeaseMs / leaseMs),
    },
    grantsNotCopied: exactly((grantsPerSecond * replicationDelayMs) / 1_000),
    recommendation: recommend(facts),
  };
}

function lengthsOf(leaseMs: number): LeaseLengths {
  return {
    leaseMs,
    renewalMs: Math.floor(leaseMs / RENEWALS_PER_LEASE),
    marginMs: Math.floor(leaseMs / MARGINS_PER_LEASE),
  };
}

function recommend({ leaseMs, p99Ms, compareLeaseMs }: LeaseFacts): LeasePlan["recommendation"] {
  if (p99Ms === undefined) {
    const kept = Math.min(LONGEST_MS, Math.max(LOWEST_MS, leaseMs));
    const length =
      kept === leaseMs
        ? "the length is left as it is"
        : `${secondsText(kept)} is taken, the ${kept < leaseMs ? "longest" : "shortest"} that can be set`;
    const reason = `how long runs take is not known, so ${length}; renewed every third, two renewals in a row may fail before it ends`;
    return { ...lengthsOf(kept), reason };
  }
  const wanted = Math.ceil((p99Ms * LEASES_PER_P99) / 1_000) * 1_000;
  const best = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, wanted));
  const derived = `${LEASES_PER_P99} times what 99 of 100 runs take (${secondsText(p99Ms)})`;
  const bound =
    best < wanted
      ? `${derived} would be ${secondsText(wanted)}, and ${secondsText(best)} is the longest that can be set`
      : best > wanted
        ? `${derived} would be ${secondsText(wanted)}, too short for an ordinary pause; ${secondsText(best)} stands one`
        : `${derived}: they end within it even if no renewal gets through`;
  const slower = "slower ones are carried by renewal, of which two in a row may fail";
  const crash = `after a crash work waits ${secondsText(best)} at most${best < compareLeaseMs ? ` instead of ${secondsText(compareLeaseMs)}` : ""}`;
  return { ...lengthsOf(best), reason: `${bound}; ${slower}; ${crash}` };
}

/** Seconds, as far as they are not whole with what is behind the point: lengths are compared, and minutes hide that. */
function secondsText(ms: number): string {
  return `${ms / 1_000} s`;
}

/** Without what binary fractions add: 1,100 times 7 % is 77 and not 77.00000000000001. */
function exactly(number: number): number {
  return Number(number.toFixed(6));
}
