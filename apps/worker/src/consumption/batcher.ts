/**
 * The batcher of one partition: what is in flight becomes one statement after another.
 *
 * While one statement is under way, or no connection is free for it, whatever comes in gathers; as soon as the next may
 * go, it takes what has gathered, oldest first. So batches are small when there is little to do and full when there is
 * much.
 *
 * Invariants
 *   1. Each submitted item is answered exactly once: by the batch that it was in, or when the batcher is closed.
 *   2. No two batches are under way at the same time.
 *   3. A batch holds at most one item per key, and `size` items. A second item of a key waits for a later batch, so
 *      that a second delivery of the same item meets the entry of the first.
 *   4. A batch is no larger than what any of its items asked for (`atMost`).
 */
import { invariant } from "@nightwriter/core";

export interface BatcherOptions<Item, Answer> {
  /** Items per batch, at most. */
  readonly size: number;
  readonly keyOf: (item: Item) => string;
  /** Called before a batch that would not be full: resolves after the moment in which more is likely to come. */
  readonly linger: () => Promise<void>;
  /** Resolves when the next batch may be taken and sent; what it hands over is called when that batch is answered. */
  readonly ready: () => Promise<() => void>;
  /** One answer per item, in their order. A rejection is a bug, and is handed to each item of the batch. */
  readonly apply: (items: readonly Item[]) => Promise<readonly Answer[]>;
}

export interface Batcher<Item, Answer> {
  /**
   * Resolves with what `apply` answered for this item. `atMost`, at least 1, bounds the batch it goes in: an item
   * that spoiled its batch before, by a lock or by its weight, asks for smaller ones.
   */
  submit(item: Item, atMost?: number): Promise<Answer>;
  /**
   * Answers everything with this, what waits, what is under way and what will be submitted. A batch that is under way
   * goes on, and what is answered to it counts for nothing.
   */
  close(answer: Answer): void;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly atMost: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>): Batcher<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let underWay: readonly Waiting<Item, Answer>[] = [];
  let closed: { readonly answer: Answer } | undefined;
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      if (waiting.length < options.size) await options.linger();
      const done = await options.ready();
      underWay = takeBatch();
      if (underWay.length > 0) await send(underWay);
      underWay = [];
      done();
    }
    running = false;
  }

  function takeBatch(): Waiting<Item, Answer>[] {
    const { batch, rest } = divide(waiting, options);
    waiting = rest;
    return batch;
  }

  async function send(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await options.apply(batch.map(({ item }) => item));
      invariant(answers.length === batch.length, `batch of ${batch.length}: ${answers.length} answers`);
      for (const [index, answer] of answers.entries()) batch[index]?.resolve(answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    submit: (item, atMost = options.size) =>
      new Promise((resolve, reject) => {
        if (closed !== undefined) return resolve(closed.answer);
        waiting.push({ item, atMost, resolve, reject });
        if (!running) void run();
      }),
    close(answer) {
      closed = { answer };
      for (const { resolve } of [...underWay, ...waiting]) resolve(answer);
      waiting = [];
    },
  };
}

/** The oldest items that may share a batch, and all others in their order. The oldest of all is always in it. */
function divide<Item, Answer>(
  waiting: readonly Waiting<Item, Answer>[],
  { size, keyOf }: Pick<BatcherOptions<Item, Answer>, "size" | "keyOf">,
): { batch: Waiting<Item, Answer>[]; rest: Waiting<Item, Answer>[] } {
  const batch: Waiting<Item, Answer>[] = [];
  const rest: Waiting<Item, Answer>[] = [];
  const keys = new Set<string>();
  let limit = size;
  for (const each of waiting) {
    const key = keyOf(each.item);
    const narrowed = Math.min(limit, each.atMost);
    if (batch.length >= narrowed || keys.has(key)) {
      rest.push(each);
      continue;
    }
    limit = narrowed;
    keys.add(key);
    batch.push(each);
  }
  return { batch, rest };
}
