/**
 * Compares claims again and again, and so asks the stores all the time for what a night needs of them.
 *
 * Another installation's claim, and a store that does not let this user in, end the process: no waiting helps, and somebody
 * must know. A store that is unfit otherwise (it has become a replica, it may evict keys) is given a while, in which a failover
 * passes. A store that is away or full is weather: it is told, and asked again for as long as it takes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, Fault, type Logger } from "@nightwriter/core";

/** How long a store may be unfit before the process ends. */
const unfitAtMostMs = 20_000;

/** Faults by which a store says that it is what it should not be, not that it does not want us. */
const mayPass = new Set(["queue_misconfigured", "queue_failed", "lease_store_unfit"]);

export interface ClaimWatchOptions {
  /** Compares once: a claimant's `look` or `check`. */
  readonly look: () => Promise<void>;
  readonly everyMs: number;
  readonly clock: Clock;
  /** Gets "store of no use now" and "store of use again", once each. */
  readonly logger: Logger;
  /** Called once with what no waiting mends; must end the process. */
  readonly crash: (fault: unknown) => void;
}

/** Looks from now on, for the first time after `everyMs`: whoever starts has looked. After disposal nothing comes of the look under way. */
export function watchClaims({ look, everyMs, clock, logger, crash }: ClaimWatchOptions): Disposable {
  const stopping = new AbortController();
  let fault: Fault | undefined;
  let faultSinceMs = 0;

  const note = (next: Fault | undefined): void => {
    if (next !== undefined && next.code !== fault?.code) {
      faultSinceMs = clock.monotonicMs();
      logger.warn({ err: next }, "a store of no use now");
    }
    if (next === undefined && fault !== undefined) logger.info({}, "all stores of use again");
    fault = next;
  };
  const isFinal = (found: Fault): boolean =>
    !found.retryable && (!mayPass.has(found.code) || clock.monotonicMs() - faultSinceMs > unfitAtMostMs);
  const watch = async (): Promise<void> => {
    for (;;) {
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        await look();
        if (!stopping.signal.aborted) note(undefined);
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (!(error instanceof Fault)) return crash(error);
        note(error);
        if (isFinal(error)) return crash(error);
      }
    }
  };
  void watch();
  return { [Symbol.dispose]: () => stopping.abort() };
}
