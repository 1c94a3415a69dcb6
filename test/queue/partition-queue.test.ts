import { bothQueues } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";
import { hands, itemsOf, job, openQueues } from "./fixture.ts";

describe.each(bothQueues)("a partition's queue in %s", (store) => {
  test("keeps what was enqueued, once, however often it was enqueued", async () => {
    await using open = await openQueues(store);
    const queue = open.queues.partition(job, 7);
    const items = itemsOf(2_500);
    await queue.enqueue(items);
    await queue.enqueue(items.slice(500, 1_500));
    expect(await queue.counts()).toEqual({ waiting: 2_500, delayed: 0, active: 0, completed: 0, failed: 0 });
  });

  test("holds ids and nothing else", async () => {
    await using open = await openQueues(store);
    const queue = open.queues.partition(job, 7);
    const [item] = itemsOf(1, { key: "पिज़्ज़ा: 7\u{1f355}" });
    await queue.enqueue(item === undefined ? [] : [item]);
    const [kept] = await queue.bullQueue.getJobs(["waiting"]);
    expect(kept?.name).toBe(job);
    expect(kept?.data).toEqual(item);
  });

  test("knows where each item is, in the order asked", async () => {
    await using open = await openQueues(store);
    const queue = open.queues.partition(job, 0);
    const keys = ["done", "broken", "later", "busy", "idle", "unknown"] as const;
    const items = keys.map((key) => ({ ...itemsOf(1)[0], key, runId: "1", businessDate: "2026-11-01", generation: 0 }));
    const held = Promise.withResolvers<void>();
    const consumer = open.queues.startConsumer({
      job,
      partition: 0,
      concurrency: 1,
      handle: async ({ key }) => {
        if (key === "broken") throw Object.assign(new Error("poisoned"), { retryable: false });
        if (key === "later") return { postponeMs: 3_600_000 };
        if (key === "busy") await held.promise;
        return undefined;
      },
    });
    await queue.enqueue(items.slice(0, 5));
    await expect
      .poll(async () => queue.states(items), { timeout: 20_000 })
      .toEqual(["completed", "failed", "delayed", "active", "waiting", "missing"]);
    expect(await queue.counts()).toEqual({ waiting: 1, delayed: 1, active: 1, completed: 1, failed: 1 });
    held.resolve();
    await consumer.stop();
  });

  test("calls an item of another generation missing", async () => {
    await using open = await openQueues(store);
    const queue = open.queues.partition(job, 0);
    await queue.enqueue(itemsOf(1));
    expect(await queue.states(itemsOf(1, { generation: 1 }))).toEqual(["missing"]);
  });

  test("tells the states of 20,000 items in seconds, not in minutes", async () => {
    await using open = await openQueues(store);
    const queue = open.queues.partition(job, 0);
    const items = itemsOf(20_000);
    await queue.enqueue(items.slice(0, 10_000));
    const startedAt = performance.now();
    const states = await queue.states(items);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(states.filter((state) => state === "waiting")).toHaveLength(10_000);
    expect(states.filter((state) => state === "missing")).toHaveLength(10_000);
  });

  test("counts the waiting jobs of a queue that an operator paused", async () => {
    await using open = await openQueues(store);
    const queue = open.queues.partition(job, 0);
    await queue.enqueue(itemsOf(3));
    await queue.bullQueue.pause();
    expect((await queue.counts()).waiting).toBe(3);
    expect(await queue.states(itemsOf(3))).toEqual(["waiting", "waiting", "waiting"]);
  });

  test("silently leaves a job as it is when its id completed before", async () => {
    await using open = await openQueues(store);
    const queue = open.queues.partition(job, 0);
    const { handle, delivery, deliveries } = hands();
    await using _consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 4, handle });
    await queue.enqueue(itemsOf(1));
    await delivery(1);
    await expect.poll(async () => queue.states(itemsOf(1))).toEqual(["completed"]);
    await queue.enqueue(itemsOf(1));
    await queue.enqueue(itemsOf(1, { generation: 1 }));
    await delivery(2);
    expect(deliveries.map(({ item }) => item.generation)).toEqual([0, 1]);
  });

  test("is the same object every time", async () => {
    await using open = await openQueues(store);
    expect(open.queues.partition(job, 3)).toBe(open.queues.partition(job, 3));
  });

  test("keeps partitions and jobs apart", async () => {
    await using open = await openQueues(store);
    await open.queues.partition(job, 1).enqueue(itemsOf(1));
    await open.queues.partition("other", 1).enqueue(itemsOf(2));
    const counted = await Promise.all([1, 2].map((partition) => open.queues.partition(job, partition).counts()));
    expect(counted.map(({ waiting }) => waiting)).toEqual([1, 0]);
  });
});
