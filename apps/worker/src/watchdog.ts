/**
 * The watchdog: a consumer that has work waiting and lets it wait has come to a halt, and only a new process helps.
 *
 * Clients of a queue have been seen to park for ever after an outage of its store. The evidence is counts: jobs wait in a
 * queue that this process consumes, nobody works at any, and the queue is not paused. One such look means nothing (jobs may
 * have come in that very moment), a minute of them does. What is counted are looks, not time: a process that was itself frozen
 * for a minute has looked once.
 */
import type { Logger } from "@nightwriter/core";
import type { QueueCounts } from "@nightwriter/queue";
import { pause } from "./backoff.ts";

/** A queue that this process consumes, as far as it is watched. */
export interface WatchedQueue {
  readonly name: string;
  counts(): Promise<Pick<QueueCounts, "waiting" | "active">>;
  isPaused(): Promise<boolean>;
}

export interface WatchdogOptions {
  /** Those that this process consumes now. One that it did not consume at the look before begins anew. */
  readonly queues: () => readonly WatchedQueue[];
  /** Between two looks at a queue. Default: 10 s. */
  readonly everyMs?: number;
  /** How many looks in a row must find it halted. Default: 6. */
  readonly patience?: number;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  /** Called once, with the queue's name; nothing is watched after that. */
  readonly onHalt: (queue: string) => void;
}

/** Watches until the stop; resolves then, or after `onHalt` was called. Looks at one queue after the other, so it is never in the way. */
export async function watchQueues(options: WatchdogOptions): Promise<void> {
  const { queues, everyMs = 10_000, patience = 6, stopping, onHalt } = options;
  let before: ReadonlyMap<string, number> = new Map();
  while (!stopping.aborted) {
    await pause(everyMs, stopping);
    const looksHalted = new Map<string, number>();
    for (const queue of queues()) {
      if (stopping.aborted) return;
      const looks = (await isHalted(queue, options.logger)) ? (before.get(queue.name) ?? 0) + 1 : 0;
      looksHalted.set(queue.name, looks);
      if (looks >= patience) return onHalt(queue.name);
    }
    before = looksHalted;
  }
}

/** A queue that cannot be asked is no evidence of anything. */
async function isHalted(queue: WatchedQueue, logger: Logger): Promise<boolean> {
  try {
    const { waiting, active } = await queue.counts();
    return waiting > 0 && active === 0 && !(await queue.isPaused());
  } catch (error) {
    logger.debug({ queue: queue.name, err: error }, "queue not watched: it does not answer");
    return false;
  }
}
