/** Queues of a test's own, and hands that note what they are given. */
import type { Logger } from "@nightwriter/core";
import { connectQueues, type DeliveryContext, type QueueItem, type Queues } from "@nightwriter/queue";
import { type QueueStore, testQueue } from "@nightwriter/testkit";

export const job = "restaurant-totals";

export interface TestQueues extends AsyncDisposable {
  readonly queues: Queues;
  readonly url: string;
  readonly prefix: string;
}

/** Connected queues on a store with nothing in it. Disposal closes and empties them. */
export async function openQueues(store: QueueStore, logger?: Logger): Promise<TestQueues> {
  const { url, prefix, ...kept } = await testQueue(store);
  const queues = await connectQueues({ url, prefix, applicationName: "test", ...(logger !== undefined && { logger }) });
  const dispose = async (): Promise<void> => {
    await queues.close();
    await kept[Symbol.asyncDispose]();
  };
  return { queues, url, prefix, [Symbol.asyncDispose]: dispose };
}

/** `count` items of one run, with keys `k0`, `k1`… */
export function itemsOf(count: number, fields: Partial<QueueItem> = {}): QueueItem[] {
  return Array.from({ length: count }, (_, index) => ({
    runId: "1",
    key: `k${index}`,
    businessDate: "2026-11-01",
    generation: 0,
    ...fields,
  }));
}

export interface Hands {
  /** Every delivery, in order. */
  readonly deliveries: { readonly item: QueueItem; readonly context: DeliveryContext }[];
  /** Hand this to a consumer. */
  readonly handle: (item: QueueItem, context: DeliveryContext) => Promise<void>;
  /** Resolves when `count` different keys have been delivered. */
  readonly keys: (count: number) => Promise<void>;
  /** Resolves at the given delivery, counted from 1. */
  readonly delivery: (count: number) => Promise<void>;
}

/** Hands that take each item at once, or as slowly as `work` does. */
export function hands(
  work: (item: QueueItem, context: DeliveryContext) => Promise<void> | void = () => undefined,
): Hands {
  const deliveries: Hands["deliveries"][number][] = [];
  const keys = new Set<string>();
  const waiting = new Set<() => void>();
  const until = async (reached: () => boolean): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => void (reached() && resolve());
    waiting.add(look);
    look();
    await promise;
    waiting.delete(look);
  };
  return {
    deliveries,
    handle: async (item, context) => {
      deliveries.push({ item, context });
      keys.add(item.key);
      for (const look of waiting) look();
      await work(item, context);
    },
    keys: async (count) => until(() => keys.size >= count),
    delivery: async (count) => until(() => deliveries.length >= count),
  };
}
