/** How due items travel from pages to partition queues: in chunks of one partition, several at a time. */
import type { DueItem } from "./due-item-store.ts";

/** Items of one partition, for one call of its queue. */
export interface Chunk {
  readonly partition: number;
  readonly items: DueItem[];
}

/** What a queue takes in one go without a noticeable cost per call. */
const fullChunk = 500;
/** With very many partitions no chunk fills up; then all are sent as they are, so that memory stays bounded. */
const heldAtMost = 50_000;
const chunksAtOnce = 4;

/** Splits pages by partition. A partition's chunk is held back until it is full, or there are no more pages. */
export async function* chunksOf(pages: AsyncIterable<readonly DueItem[]>): AsyncGenerator<Chunk> {
  const held = new Map<number, DueItem[]>();
  let heldCount = 0;
  for await (const page of pages) {
    for (const item of page) {
      const items = held.get(item.partition);
      if (items === undefined) held.set(item.partition, [item]);
      else items.push(item);
    }
    heldCount += page.length;
    for (const [partition, items] of held) {
      if (items.length < fullChunk && heldCount <= heldAtMost) continue;
      held.delete(partition);
      heldCount -= items.length;
      yield { partition, items };
    }
  }
  for (const [partition, items] of held) yield { partition, items };
}

/**
 * Works at four chunks at a time. When one fails no more are begun, and those under way are waited for before its error is
 * thrown, so that nothing goes on behind the caller's back.
 */
export async function forEachChunk(chunks: AsyncIterable<Chunk>, work: (chunk: Chunk) => Promise<void>): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const chunk of chunks) {
      const task = work(chunk)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => underWay.delete(task));
      underWay.add(task);
      if (underWay.size >= chunksAtOnce) await Promise.race(underWay);
      if (failures.length > 0) break;
    }
  } finally {
    await Promise.all(underWay);
  }
  if (failures.length > 0) throw failures[0];
}
