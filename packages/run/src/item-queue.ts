/** The queue as this package needs it: a port. Whoever has a queue hands one over; that of packages/queue fits as it is. */

/** The ids of one run item, as they travel. */
export interface QueueItem {
  /** A run's id in decimal digits: JSON has no number for a bigint. */
  readonly runId: string;
  readonly key: string;
  /** YYYY-MM-DD */
  readonly businessDate: string;
  /** How often the item was put into the queue anew, from 0. Part of the job's id: an id is never run twice. */
  readonly generation: number;
}

/** Where an item's queue job is. `missing`: the queue has none under this generation. */
export type QueueItemState = "missing" | "waiting" | "delayed" | "active" | "completed" | "failed";

/** How many queue jobs are still to be worked at, by state. */
export interface QueueCounts {
  /** With prioritized jobs, and with those of a paused queue. */
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
}

/** The queue of one partition. */
export interface ItemQueue {
  /** Adds what is missing. An item whose id the queue has in any state is left as it is. Safe to repeat after a fault. */
  enqueue(items: readonly QueueItem[]): Promise<void>;
  /** In the items' order. */
  states(items: readonly QueueItem[]): Promise<readonly QueueItemState[]>;
  counts(): Promise<QueueCounts>;
}

/** The queues of one job. */
export interface ItemQueues {
  partition(partition: number): ItemQueue;
}
