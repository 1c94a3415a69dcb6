/** Time as an argument, so that tests can hold it still. */
export interface Clock {
  /** Wall time: for people and for business dates. It may jump. */
  now(): Temporal.Instant;
  /** Milliseconds since an arbitrary start of this process; never goes back. For timeouts and leases. */
  monotonicMs(): number;
}

/** The machine's clocks. */
export const systemClock: Clock = {
  now: () => Temporal.Now.instant(),
  monotonicMs: () => performance.now(),
};
