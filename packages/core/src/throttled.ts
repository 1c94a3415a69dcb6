import type { Clock } from "./clock.ts";
import { systemClock } from "./clock.ts";

export interface ThrottleOptions {
  /** Milliseconds between two lines at least. Default: 1,000. */
  readonly everyMs?: number;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** The fields of a line, and how many lines before it were not written. */
export type Throttled<Fields> = Fields & { readonly swallowed?: number };

/**
 * Passes on what is said, but not more often than every so many milliseconds: in bad weather everything complains at once, and the
 * first complaint is the news. What was swallowed is counted, and told with the next line that is passed on.
 */
export function throttled<Fields extends object>(
  say: (fields: Throttled<Fields>) => void,
  { everyMs = 1_000, clock = systemClock }: ThrottleOptions = {},
): (fields: Fields) => void {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  let swallowed = 0;
  return (fields) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - saidAtMs < everyMs) {
      swallowed += 1;
      return;
    }
    saidAtMs = nowMs;
    say(swallowed === 0 ? fields : { ...fields, swallowed });
    swallowed = 0;
  };
}
