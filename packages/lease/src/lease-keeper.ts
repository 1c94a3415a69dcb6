/** A lease that this process holds, or held. */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  readonly nonce: string;
  readonly storeToken: bigint | undefined;
  /**
   * How long it may still be trusted, in milliseconds, by the monotonic clock: counted from before the request that got or
   * renewed it, minus the margin. 0 or less: not any more. Asked anew at every call, so it is right after a freeze too.
   */
  leftMs(): number;
  /** Aborts once, when the lease is over for whatever reason but a release: `reason` is a text for the log. */
  readonly lost: AbortSignal;
}

/** The leases of one process: takes them, renews them in time and all together, gives them back. */
export interface LeaseKeeper extends AsyncDisposable {
  /** Takes the lease; undefined: somebody else has it. Throws LeaseFault. */
  acquire(name: string): Promise<Lease | undefined>;
  /** Gives the lease back if it is still exactly this one. Never throws: what cannot be given back runs out by itself. */
  release(lease: Lease): Promise<void>;
  /** Milliseconds since the store last answered anything, counted from before the request. Infinity: never yet. */
  answeredAgoMs(): number;
  /** Stops renewing, releases what is held, leaves the store open. */
  stop(): Promise<void>;
}
