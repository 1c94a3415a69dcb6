/** The queue of one partition, as a producer sees it: put items in, ask where they are. */
import type { Logger } from "@nightwriter/core";
import { Queue } from "bullmq";
import pRetry from "p-retry";
import { queueFault } from "./queue-fault.ts";
import { type QueueItem, queueJobId } from "./queue-item.ts";
import { queueName } from "./queue-name.ts";
import { jobOptions, keptEvents } from "./queue-policy.ts";
import { bullOptions, type ItemQueue, type PresentState, type QueueItemState, type QueueStore } from "./queue-store.ts";

/** Jobs per state. `waiting` counts those of a paused queue too. */
export interface QueueCounts {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  readonly completed: number;
  readonly failed: number;
}

/** The queue of one partition of a job. */
export interface PartitionQueue {
  /** `{restaurant-totals-7}` */
  readonly name: string;
  readonly job: string;
  readonly partition: number;
  /**
   * Afterwards every item has a job in the queue, or had one before: an id that the queue has in any state, completed and
   * failed too, is silently left as it is. An item that must run again therefore needs a new generation. Not atomic: when it
   * throws, some items may have been added; calling it again with the same items is safe. Throws QueueFault after
   * about half a minute of trying, or three where the store accepts connections and says nothing.
   */
  enqueue(items: readonly QueueItem[]): Promise<void>;
  /** The state of each item, in the items' order. Costs a few round trips, whatever their number; throws QueueFault. */
  states(items: readonly QueueItem[]): Promise<QueueItemState[]>;
  /** Jobs per state. Throws QueueFault. */
  counts(): Promise<QueueCounts>;
  /** Whether somebody has paused it: nothing is taken from it then. Throws QueueFault. */
  isPaused(): Promise<boolean>;
  /** Afterwards it is not paused. Throws QueueFault. */
  resume(): Promise<void>;
  /**
   * BullMQ's own object, for Bull Board, which takes either backend but has a type for the Redis one only. Whoever adds
   * jobs through it gets what the consumer makes of foreign data: failed jobs.
   */
  readonly bullQueue: Queue;
}

/** Large enough that round trips do not count, small enough that one script run or statement does not hold up the others. */
const chunkSize = 1_000;

/** Opens the queue; no connection is made beyond the store's. */
export function openPartitionQueue(
  store: QueueStore,
  logger: Logger,
  { job, partition }: { job: string; partition: number },
): PartitionQueue {
  const name = queueName(job, partition);
  const bullQueue: ItemQueue = new Queue(
    name,
    { ...bullOptions(store), defaultJobOptions: jobOptions, streams: { events: { maxLen: keptEvents } } },
    store.backend,
  );
  bullQueue.on("error", store.report);
  const ask = async <Answer>(question: () => Promise<Answer>): Promise<Answer> =>
    question().catch((error: unknown) => Promise.reject(queueFault(error, store.name)));
  return {
    name,
    job,
    partition,
    bullQueue: bullQueue as unknown as Queue,
    enqueue: async (items) => {
      for (let start = 0; start < items.length; start += chunkSize) {
        const jobs = items
          .slice(start, start + chunkSize)
          .map((item) => ({ name: job, data: item, opts: { jobId: queueJobId(item) } }));
        await persistently(() => ask(() => bullQueue.addBulk(jobs)), logger.child({ queue: name }));
      }
    },
    states: async (items) => {
      if (items.length === 0) return [];
      const ids = items.map(queueJobId);
      const found = await ask(() => store.states(bullQueue, ids));
      return ids.map((id) => found.get(id) ?? "missing");
    },
    isPaused: async () => ask(() => bullQueue.isPaused()),
    resume: async () => ask(() => bullQueue.resume()),
    counts: async () => {
      const counted = await ask(() => store.counts(bullQueue));
      const of = (state: PresentState): number => counted.get(state) ?? 0;
      return {
        waiting: of("waiting"),
        delayed: of("delayed"),
        active: of("active"),
        completed: of("completed"),
        failed: of("failed"),
      };
    },
  };
}

/** Tries again while waiting can help. Ids are derived from the items, so a try whose answer was lost does no harm. */
async function persistently<Answer>(work: () => Promise<Answer>, logger: Logger): Promise<Answer> {
  return pRetry(work, {
    retries: 8,
    minTimeout: 200,
    maxTimeout: 5_000,
    randomize: true,
    shouldRetry: ({ error }) => queueFault(error, "").retryable,
    onFailedAttempt: ({ error, attemptNumber, retriesLeft }) =>
      logger.warn({ err: error, attempt: attemptNumber, retriesLeft }, "adding jobs failed"),
  });
}
