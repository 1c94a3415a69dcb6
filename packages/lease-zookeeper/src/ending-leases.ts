/**
 * When each lease of this process ends if it is not renewed: ZooKeeper knows only when all of them do.
 *
 * Times are those of the monotonic clock, counted from when the store had answered: later than where the holder, who counts
 * from before he asked, has ceased to trust the lease.
 */
import type { Logger } from "@nightwriter/core";
import type { LeaseClaim } from "@nightwriter/lease";

export interface EndingLeasesOptions {
  readonly ttlMs: number;
  /** How long a call may take at most. */
  readonly answerMs: number;
  /** Ends those of the leases that are the claims' and for which `mayEnd` is true at that moment. */
  readonly end: (claims: readonly LeaseClaim[], mayEnd: (claim: LeaseClaim) => boolean) => Promise<void>;
  readonly logger: Logger;
}

export interface EndingLeases {
  /** To be said before a lease is asked for: it may be made although nobody learns of it. */
  expect(claim: LeaseClaim): void;
  /** Each has its whole length from now. */
  extend(claims: readonly LeaseClaim[]): void;
  /** Whether its time is not over. */
  isLive(claim: LeaseClaim): boolean;
  forget(claims: readonly LeaseClaim[]): void;
  /** One after the other: of two that saw the same node, the later might delete what somebody else has made since. */
  inTurn(work: () => Promise<void>): Promise<void>;
  stop(): void;
}

export function endingLeases({ ttlMs, answerMs, end, logger }: EndingLeasesOptions): EndingLeases {
  const endsAt = new Map<string, { readonly claim: LeaseClaim; readonly atMs: number }>();
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  let stopped = false;

  const isLive = (claim: LeaseClaim): boolean => (endsAt.get(keyOf(claim))?.atMs ?? 0) > performance.now();

  const forget = (claims: readonly LeaseClaim[]): void => {
    for (const claim of claims) endsAt.delete(keyOf(claim));
  };

  const inTurn = async (work: () => Promise<void>): Promise<void> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };

  const endDue = async (): Promise<void> => {
    const due = [...endsAt.values()].filter(({ claim }) => !isLive(claim)).map(({ claim }) => claim);
    try {
      if (due.length > 0) await inTurn(() => end(due, (claim) => !isLive(claim)));
      forget(due.filter((claim) => !isLive(claim)));
      wake();
    } catch (error) {
      // Where nobody can be reached, nobody keeps the session alive either.
      logger.debug({ error, leases: due.length }, "leases that were not renewed could not be ended; tried again");
      wake(ttlMs / 10);
    }
  };

  const wake = (atLeastMs = 0): void => {
    clearTimeout(timer);
    if (endsAt.size === 0 || stopped) return;
    const first = Math.min(...[...endsAt.values()].map(({ atMs }) => atMs));
    timer = setTimeout(() => void endDue(), Math.max(first - performance.now(), atLeastMs));
    timer.unref();
  };

  const set = (claims: readonly LeaseClaim[], inMs: number): void => {
    for (const claim of claims) endsAt.set(keyOf(claim), { claim, atMs: performance.now() + inMs });
    wake();
  };

  return {
    expect: (claim) => set([claim], answerMs + ttlMs),
    extend: (claims) => set(claims, ttlMs),
    isLive,
    forget,
    inTurn,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function keyOf({ name, holder, nonce }: LeaseClaim): string {
  return JSON.stringify([name, holder, nonce]);
}
