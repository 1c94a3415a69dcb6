import { describe, expect, it } from "vitest";
import { type Chunk, chunksOf, forEachChunk } from "./chunks.ts";
import type { DueItem } from "./due-item-store.ts";

/** `counts[n]` items of partition n. */
function pageOf(...counts: readonly number[]): DueItem[] {
  return counts.flatMap((count, partition) =>
    Array.from({ length: count }, (_, index) => ({
      runId: "1",
      key: `${partition}-${index}`,
      businessDate: "2026-03-14",
      generation: 0,
      partition,
    })),
  );
}

async function* each<Value>(...values: readonly Value[]): AsyncGenerator<Value> {
  yield* values;
}

async function sizesOf(...pages: readonly DueItem[][]): Promise<[number, number][]> {
  const sizes: [number, number][] = [];
  for await (const { partition, items } of chunksOf(each(...pages))) sizes.push([partition, items.length]);
  return sizes;
}

describe("chunksOf", () => {
  it("holds a partition's items back until they fill a chunk, and sends what is left at the end", async () => {
    expect(await sizesOf(pageOf(300, 600), pageOf(300, 1))).toEqual([
      [1, 600],
      [0, 600],
      [1, 1],
    ]);
  });
  it("sends small chunks when there are so many partitions that none fills up", async () => {
    const wide = pageOf(...Array.from({ length: 1_000 }, () => 30));
    expect((await sizesOf(wide, wide)).slice(0, 2)).toEqual([
      [0, 60],
      [1, 60],
    ]);
  });
  it("is empty when there is nothing", async () => {
    expect(await sizesOf([])).toEqual([]);
  });
});

describe("forEachChunk", () => {
  const chunks = (count: number): Chunk[] =>
    Array.from({ length: count }, (_, partition) => ({ partition, items: [] }));

  it("works at four chunks at a time", async () => {
    let [atOnce, most, done] = [0, 0, 0];
    await forEachChunk(each(...chunks(10)), async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      done += 1;
    });
    expect({ most, done }).toEqual({ most: 4, done: 10 });
  });
  it("throws the first error after what was under way has ended, and begins no more", async () => {
    const begun: number[] = [];
    const ended: number[] = [];
    const work = async ({ partition }: Chunk): Promise<void> => {
      begun.push(partition);
      if (partition === 1) throw new Error("queue is away");
      await new Promise(setImmediate);
      ended.push(partition);
    };
    await expect(forEachChunk(each(...chunks(100)), work)).rejects.toThrow("queue is away");
    expect(begun.length).toBeLessThan(100);
    expect(ended).toEqual(begun.filter((partition) => partition !== 1));
  });
  it("waits for what is under way when the chunks themselves fail", async () => {
    let ended = 0;
    async function* failing(): AsyncGenerator<Chunk> {
      yield* chunks(2);
      throw new Error("database is away");
    }
    const work = async (): Promise<void> => {
      await new Promise(setImmediate);
      ended += 1;
    };
    await expect(forEachChunk(failing(), work)).rejects.toThrow("database is away");
    expect(ended).toBe(2);
  });
});
