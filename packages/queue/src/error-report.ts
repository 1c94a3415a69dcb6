import { type Clock, type Logger, systemClock } from "@nightwriter/core";

const quietMs = 10_000;
const distinctAtMost = 10;

/** A listener for `error` events. */
export type ErrorReport = (error: Error) => void;

/**
 * Says each distinct message at most once in ten seconds, and ten distinct ones at most; how many it swallowed is said with
 * the next line. A store that is away makes every connection complain at every try to reach it, and BullMQ hands each
 * complaint on twice: one line is news, the rest is noise.
 */
export function errorReport(logger: Logger, clock: Clock = systemClock): ErrorReport {
  const said = new Set<string>();
  let windowStartMs = Number.NEGATIVE_INFINITY;
  let swallowed = 0;
  return (error) => {
    const now = clock.monotonicMs();
    if (now - windowStartMs >= quietMs) {
      said.clear();
      windowStartMs = now;
    }
    if (said.has(error.message) || said.size >= distinctAtMost) {
      swallowed += 1;
      return;
    }
    said.add(error.message);
    logger.warn(
      { err: error, ...(swallowed > 0 && { swallowed }) },
      "queue: an error of the store or of a connection to it",
    );
    swallowed = 0;
  };
}
