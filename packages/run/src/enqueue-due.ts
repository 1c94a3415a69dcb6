import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { chunksOf, forEachChunk } from "./chunks.ts";
import { countDue, dueItems, queueItemOf } from "./due-item-store.ts";
import type { ItemQueues } from "./item-queue.ts";
import type { Run } from "./run.ts";

/** What enqueueing and reconciling work with. */
export interface QueueContext {
  readonly database: Database;
  readonly job: Job;
  readonly queues: ItemQueues;
}

/** What a caller may want to hear while it waits. */
export interface EnqueueOptions {
  /** Called after each chunk. `total` is counted before the first one, which costs a read of all due items. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Afterwards the queue has, or has had, a job for every item of the run that was due when this was called; returns how many
 * items these were. Bounded memory, whatever their number. Calling it again adds nothing that was added before.
 *
 * A caller that dies in the middle leaves items that are due and not in the queue: {@link reconcile} finds them. Throws
 * SqlFault and what the queue throws.
 */
export async function enqueueDue(
  { database, job, queues }: QueueContext,
  run: Pick<Run, "id">,
  { onProgress }: EnqueueOptions = {},
): Promise<number> {
  const filter = { runId: run.id };
  const total = onProgress === undefined ? 0 : sum((await countDue(database, job, filter)).values());
  let done = 0;
  await forEachChunk(chunksOf(dueItems(database, job, filter)), async ({ partition, items }) => {
    await queues.partition(partition).enqueue(items.map(queueItemOf));
    done += items.length;
    onProgress?.(done, Math.max(done, total));
  });
  return done;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
