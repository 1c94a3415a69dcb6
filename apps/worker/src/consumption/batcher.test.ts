import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createBatcher } from "./batcher.ts";

interface Item {
  readonly key: string;
  readonly serial: number;
}

const free = (): Promise<() => void> => Promise.resolve(() => {});
const linger = (): Promise<void> => Promise.resolve();
const keyOf = ({ key }: Item): string => key;

/** An `apply` whose batches are answered when the test says so. */
function heldApply(): {
  batches: (readonly Item[])[];
  apply: (items: readonly Item[]) => Promise<number[]>;
  answer: () => void;
} {
  const batches: (readonly Item[])[] = [];
  let answer = (): void => {};
  const apply = async (items: readonly Item[]): Promise<number[]> => {
    batches.push(items);
    const { promise, resolve } = Promise.withResolvers<void>();
    answer = resolve;
    await promise;
    return items.map(({ serial }) => serial);
  };
  return { batches, apply, answer: () => answer() };
}

/** Lets everything happen that waits for nothing but the event loop. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("batcher", () => {
  it("sends the first item alone, and what gathers meanwhile as the next batch", async () => {
    const { batches, apply, answer } = heldApply();
    const batcher = createBatcher({ size: 200, keyOf, linger, ready: free, apply });
    const first = batcher.submit({ key: "a", serial: 1 });
    await settled();
    const others = ["b", "c", "d"].map((key, index) => batcher.submit({ key, serial: index + 2 }));
    answer();
    expect(await first).toBe(1);
    await settled();
    answer();
    expect(await Promise.all(others)).toEqual([2, 3, 4]);
    expect(batches.map((batch) => batch.length)).toEqual([1, 3]);
  });

  it("sends a second item of a key after the first is answered", async () => {
    const { batches, apply, answer } = heldApply();
    const batcher = createBatcher({ size: 200, keyOf, linger, ready: free, apply });
    const twins = [1, 2].map((serial) => batcher.submit({ key: "a", serial }));
    await settled();
    expect(batches).toEqual([[{ key: "a", serial: 1 }]]);
    answer();
    await settled();
    answer();
    expect(await Promise.all(twins)).toEqual([1, 2]);
  });

  it("takes its batch when it may be sent, not when it was asked for", async () => {
    const { batches, apply, answer } = heldApply();
    const turn = Promise.withResolvers<() => void>();
    const batcher = createBatcher({ size: 200, keyOf, linger, ready: () => turn.promise, apply });
    const early = batcher.submit({ key: "a", serial: 1 });
    await settled();
    const late = batcher.submit({ key: "b", serial: 2 });
    turn.resolve(() => {});
    await settled();
    answer();
    expect(await Promise.all([early, late])).toEqual([1, 2]);
    expect(batches).toHaveLength(1);
  });

  it("keeps a batch as small as its most cautious item asks for", async () => {
    const { batches, apply, answer } = heldApply();
    const batcher = createBatcher({ size: 200, keyOf, linger, ready: free, apply });
    const answers = [batcher.submit({ key: "a", serial: 0 })];
    await settled();
    for (const [index, key] of ["b", "c", "d", "e"].entries()) {
      answers.push(batcher.submit({ key, serial: index }, key === "c" ? 2 : 200));
    }
    for (let round = 0; round < 3; round += 1) {
      answer();
      await settled();
    }
    await Promise.all(answers);
    expect(batches.map((batch) => batch.map(keyOf))).toEqual([["a"], ["b", "c"], ["d", "e"]]);
  });

  it("lingers before a batch that would not be full, and not before one that is", async () => {
    const { batches, apply, answer } = heldApply();
    const moment = vi.fn<() => Promise<void>>(linger);
    const batcher = createBatcher({ size: 2, keyOf, linger: moment, ready: free, apply });
    const answers = ["a", "b", "c", "d"].map((key, serial) => batcher.submit({ key, serial }));
    for (let round = 0; round < 3; round += 1) {
      await settled();
      answer();
    }
    await Promise.all(answers);
    expect(batches.map((batch) => batch.length)).toEqual([2, 2]);
    // The first item was alone when it came.
    expect(moment).toHaveBeenCalledOnce();
  });

  it("hands a bug to each item of the batch and goes on with the next", async () => {
    let calls = 0;
    const apply = (items: readonly Item[]): Promise<number[]> => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error("broken")) : Promise.resolve(items.map(({ serial }) => serial));
    };
    const batcher = createBatcher({ size: 2, keyOf, linger, ready: free, apply });
    const answers = ["a", "b", "c"].map((key, serial) => batcher.submit({ key, serial }));
    expect(await Promise.allSettled(answers)).toMatchObject([
      { reason: { message: "broken" } },
      { reason: { message: "broken" } },
      { value: 2 },
    ]);
  });

  it("calls an apply that loses an answer a bug", async () => {
    const batcher = createBatcher({ size: 2, keyOf, linger, ready: free, apply: () => Promise.resolve([]) });
    await expect(batcher.submit({ key: "a", serial: 1 })).rejects.toThrow("batch of 1: 0 answers");
  });

  it("answers what is under way, what waits and what comes later when it is closed, and sends nothing more", async () => {
    const { batches, apply, answer } = heldApply();
    const batcher = createBatcher({ size: 1, keyOf, linger, ready: free, apply });
    const underWay = batcher.submit({ key: "a", serial: 1 });
    const waiting = batcher.submit({ key: "b", serial: 2 });
    await vi.waitFor(() => expect(batches).toHaveLength(1));
    batcher.close(-1);
    expect(await Promise.all([underWay, waiting, batcher.submit({ key: "c", serial: 3 })])).toEqual([-1, -1, -1]);
    answer();
    await new Promise(setImmediate);
    expect(batches).toEqual([[{ key: "a", serial: 1 }]]);
  });

  it("answers each item once, whatever the interleaving: one batch at a time, one item per key, never over the size", async () => {
    const arrivals = fc.array(
      fc.record({ key: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), atMost: fc.integer({ min: 1, max: 6 }) }),
      { minLength: 1, maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 5 }), arrivals, async (scheduler, size, items) => {
        let underWay = 0;
        const applied: number[] = [];
        const apply = async (batch: readonly (Item & { atMost: number })[]): Promise<number[]> => {
          underWay += 1;
          expect(underWay).toBe(1);
          expect(new Set(batch.map(keyOf)).size).toBe(batch.length);
          expect(batch.length).toBeLessThanOrEqual(Math.min(size, ...batch.map(({ atMost }) => atMost)));
          await scheduler.schedule(Promise.resolve(), "apply");
          underWay -= 1;
          for (const { serial } of batch) applied.push(serial);
          return batch.map(({ serial }) => serial);
        };
        const ready = (): Promise<() => void> =>
          scheduler.schedule(
            Promise.resolve(() => {}),
            "ready",
          );
        const lingering = (): Promise<void> => scheduler.schedule(Promise.resolve(), "linger");
        const batcher = createBatcher({ size, keyOf, linger: lingering, ready, apply });
        const answers: number[] = [];
        const everyone = items.map(async ({ key, atMost }, serial) => {
          await scheduler.schedule(Promise.resolve(), `item ${serial} of ${key}`);
          answers.push(await batcher.submit({ key, serial, atMost }, atMost));
        });
        await scheduler.waitFor(Promise.all(everyone));
        const serials = items.map((_, serial) => serial);
        expect(answers.toSorted((a, b) => a - b)).toEqual(serials);
        expect(applied.toSorted((a, b) => a - b)).toEqual(serials);
      }),
      { numRuns: 200 },
    );
  });
});
