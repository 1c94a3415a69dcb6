import type { ItemQueues } from "@nightwriter/run";
import type { RetriedItem } from "./retry-items.ts";

/** What a queue takes in one go without a noticeable cost per call. */
const chunkSize = 500;

/**
 * Puts the retried items into their queues, and returns how many these were; again adds nothing. What a caller that dies
 * leaves out is due and missing in the queue: the scheduler's next `reconcile` finds it. Throws what the queue throws.
 */
export async function enqueueRetried(queues: ItemQueues, retried: readonly RetriedItem[]): Promise<number> {
  const due = retried.flatMap((item) => item.due ?? []);
  for (const [partition, items] of Map.groupBy(due, (item) => item.partition)) {
    const queue = queues.partition(partition);
    for (let start = 0; start < items.length; start += chunkSize) {
      const chunk = items.slice(start, start + chunkSize);
      await queue.enqueue(chunk.map(({ partition: _partition, ...item }) => item));
    }
  }
  return due.length;
}
