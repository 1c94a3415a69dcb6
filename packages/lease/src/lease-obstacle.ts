/**
 * Why this process must not keep its leases: its database, or its queue's store, does not answer.
 *
 * A holder that cannot write must not keep others from writing, however well its lease store answers. What counts is the
 * last answer to any of the small statements that a holder sends all the time, on connections of their own: a slow batch, a
 * long plan are no obstacle, a silent server is. The same goes for who cannot fetch: its partitions would wait for it however
 * well all else answers. A late event loop is the keeper's to notice.
 */
import type { Clock } from "@nightwriter/core";

export interface LeaseObstacle {
  /** Runs the question, and notes when it was asked if it is answered. */
  noteAnswer<Answer>(question: () => Promise<Answer>): Promise<Answer>;
  /** The obstacle, as a text for the log; undefined: there is none. */
  why(): string | undefined;
}

/** `limitMs`: how long it may be silent. Counted from now until it answers first. `server` names it in the log. */
export function createLeaseObstacle(clock: Clock, limitMs: number, server = "the database"): LeaseObstacle {
  let answeredAtMs = clock.monotonicMs();
  return {
    async noteAnswer(question) {
      const askedAtMs = clock.monotonicMs();
      const answer = await question();
      answeredAtMs = Math.max(answeredAtMs, askedAtMs);
      return answer;
    },
    why() {
      const silentMs = Math.round(clock.monotonicMs() - answeredAtMs);
      return silentMs > limitMs ? `${server} has not answered for ${silentMs} ms` : undefined;
    },
  };
}

/**
 * A part of a lease, in milliseconds, for whatever only says how things are, where nothing depends on its being short. Of a
 * lease of 4 s at least: a busy machine is silent for half a second now and then, and that is no reason to give leases away.
 */
export function toleranceMs(leaseMs: number, part: number): number {
  return Math.round(Math.max(leaseMs, 4_000) * part);
}
