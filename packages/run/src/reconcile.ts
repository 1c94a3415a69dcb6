/**
 * Puts back into the queue what Postgres says is due and the queue does not work at.
 *
 * It is the one remedy for every way in which a queue can forget: a scheduler that died between plan and enqueue, a flush, a
 * failover, an old dump, jobs that failed for good, jobs that completed without an entry (their key was paused).
 */
import { type Chunk, chunksOf, forEachChunk } from "./chunks.ts";
import { countDue, type DueItem, dueItems, queueItemOf } from "./due-item-store.ts";
import type { QueueContext } from "./enqueue-due.ts";
import { raiseGenerations } from "./generation-store.ts";
import type { ItemQueue } from "./item-queue.ts";

/** What one call of {@link reconcile} found and did, in items. */
export interface Reconciled {
  /** Due items of the job, when this began. */
  readonly due: number;
  /** How many items' queue jobs were looked at: those of partitions whose queue has fewer jobs than items are due. */
  readonly lookedAt: number;
  /** Enqueued again under the generation they had, because the queue did not have them. */
  readonly missing: number;
  /** Enqueued under a new generation, because their job had completed or failed and yet they are due. */
  readonly renewed: number;
}

/**
 * Afterwards every item that was due all the time is waiting, active or delayed in its queue, or is a duplicate of one that is.
 * Any number of callers may do it at once: generations are raised by compare-and-set, so an item gets one new job, and
 * a caller that dies before it has enqueued what it raised leaves a missing one, which the next caller finds.
 *
 * An item that is applied meanwhile may be enqueued once more: its write answers `duplicate`.
 *
 * A queue that holds as many foreign or stale jobs as items are missing from it looks complete; these jobs drain, and
 * then it does not. Throws SqlFault and what the queue throws.
 */
export async function reconcile(context: QueueContext): Promise<Reconciled> {
  const { database, job } = context;
  const due = await countDue(database, job);
  const partitions = await partitionsInDeficit(context, due);
  const found = { missing: 0, renewed: 0, lookedAt: 0 };
  if (partitions.length > 0) {
    await forEachChunk(chunksOf(dueItems(database, job, { partitions })), async (chunk) => {
      const { missing, renewed } = await mend(context, chunk);
      found.lookedAt += chunk.items.length;
      found.missing += missing;
      found.renewed += renewed;
    });
  }
  return { due: due.values().reduce((sum, count) => sum + count, 0), ...found };
}

async function partitionsInDeficit({ queues }: QueueContext, due: ReadonlyMap<number, number>): Promise<number[]> {
  const looked = await Promise.all(
    Array.from(due, async ([partition, count]) => {
      const { waiting, active, delayed } = await queues.partition(partition).counts();
      return { partition, deficit: count - waiting - active - delayed };
    }),
  );
  return looked.filter(({ deficit }) => deficit > 0).map(({ partition }) => partition);
}

async function mend(
  { database, job, queues }: QueueContext,
  { partition, items }: Chunk,
): Promise<{ missing: number; renewed: number }> {
  const queue = queues.partition(partition);
  const states = await queue.states(items.map(queueItemOf));
  const missing = items.filter((_, index) => states[index] === "missing");
  const ended = items.filter((_, index) => states[index] === "completed" || states[index] === "failed");
  const renewed = await raiseGenerations(database, job, ended);
  await enqueue(queue, [...missing, ...renewed]);
  return { missing: missing.length, renewed: renewed.length };
}

async function enqueue(queue: ItemQueue, items: readonly DueItem[]): Promise<void> {
  if (items.length > 0) await queue.enqueue(items.map(queueItemOf));
}
