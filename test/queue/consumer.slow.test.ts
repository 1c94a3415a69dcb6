import { bothQueues } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";
import { hands, itemsOf, job, openQueues } from "./fixture.ts";

describe.each(bothQueues)("a consumer on %s", (store) => {
  test("delivers every item of its partition, and no other's", async () => {
    await using open = await openQueues(store);
    await open.queues.partition(job, 0).enqueue(itemsOf(200));
    await open.queues.partition(job, 1).enqueue(itemsOf(5, { runId: "2" }));
    const { handle, keys, deliveries } = hands();
    const consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 50, handle });
    await keys(200);
    expect(await consumer.stop()).toBe("drained");
    expect(deliveries).toHaveLength(200);
    expect(new Set(deliveries.map(({ item }) => item.runId))).toEqual(new Set(["1"]));
  });

  test("takes what is enqueued while it waits", async () => {
    await using open = await openQueues(store);
    const { handle, keys } = hands();
    await using _consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 4, handle });
    await open.queues.partition(job, 0).enqueue(itemsOf(1));
    await keys(1);
    await open.queues.partition(job, 0).enqueue(itemsOf(10));
    await keys(10);
    expect((await open.queues.partition(job, 0).states(itemsOf(1))).includes("missing")).toBe(false);
  });

  test("has as many items in flight as it may", async () => {
    await using open = await openQueues(store);
    const most = store === "redis" ? 40 : 16;
    await open.queues.partition(job, 0).enqueue(itemsOf(60));
    const held = Promise.withResolvers<void>();
    const { handle, delivery, deliveries } = hands(() => held.promise);
    const consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 40, handle });
    await delivery(most);
    expect(await open.queues.partition(job, 0).counts()).toMatchObject({ active: most, waiting: 60 - most });
    expect(deliveries).toHaveLength(most);
    held.resolve();
    await delivery(60);
    await consumer.stop();
  });

  test("is at work before it has fetched all that it may have in flight, and has that many soon", async () => {
    await using open = await openQueues(store);
    const queue = open.queues.partition(job, 0);
    await queue.enqueue(itemsOf(300));
    const [fetched, held] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
    const { handle, delivery } = hands(async () => {
      fetched.resolve((await queue.counts()).active);
      await held.promise;
    });
    const consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 200, handle });
    expect(await fetched.promise).toBeLessThan(100);
    await delivery(store === "redis" ? 200 : 16);
    held.resolve();
    await delivery(300);
    await consumer.stop();
  });

  test("delivers again what threw, counting the attempts", async () => {
    await using open = await openQueues(store);
    const { handle, delivery, deliveries } = hands((_item, { attempt }) => {
      if (attempt < 2) throw new Error("not yet");
    });
    await using _consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 4, handle });
    await open.queues.partition(job, 0).enqueue(itemsOf(1));
    await delivery(2);
    expect(deliveries.map(({ context }) => context.attempt)).toEqual([1, 2]);
  });

  test("delivers again what was postponed, and counts no attempt for it", async () => {
    await using open = await openQueues(store);
    const { handle, delivery, deliveries } = hands();
    await using _consumer = open.queues.startConsumer({
      job,
      partition: 0,
      concurrency: 4,
      handle: async (item, context) => {
        await handle(item, context);
        return deliveries.length < 3 ? { postponeMs: 10 } : undefined;
      },
    });
    await open.queues.partition(job, 0).enqueue(itemsOf(1));
    await delivery(3);
    expect(deliveries.map(({ context }) => context.attempt)).toEqual([1, 1, 1]);
    await expect.poll(async () => open.queues.partition(job, 0).states(itemsOf(1))).toEqual(["completed"]);
  });

  test("fails foreign data with the reason, at once and without asking the handler", async () => {
    await using open = await openQueues(store);
    const queue = open.queues.partition(job, 0);
    const { bullQueue } = queue;
    const item = itemsOf(1)[0];
    await bullQueue.add(job, { ...item, amountMinor: "200000" }, { jobId: "forged", attempts: 5 });
    await bullQueue.add(job, { key: "77" }, { jobId: "incomplete", attempts: 5 });
    const { handle, deliveries } = hands();
    await using _consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 4, handle });
    await expect.poll(async () => (await queue.counts()).failed, { timeout: 20_000 }).toBe(2);
    const [forged, incomplete] = await Promise.all([bullQueue.getJob("forged"), bullQueue.getJob("incomplete")]);
    expect(forged).toMatchObject({
      failedReason: expect.stringMatching(/^not a queue item: .*amountMinor/),
      attemptsMade: 1,
    });
    expect(incomplete).toMatchObject({
      failedReason: expect.stringMatching(/^not a queue item: runId/),
      attemptsMade: 1,
    });
    expect(deliveries).toEqual([]);
  });

  test("settles what is in flight before it has stopped, and fetches nothing new", async () => {
    await using open = await openQueues(store);
    await open.queues.partition(job, 0).enqueue(itemsOf(30));
    const held = Promise.withResolvers<void>();
    const { handle, delivery, deliveries } = hands(() => held.promise);
    const consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 10, handle });
    await delivery(10);
    const stopped = consumer.stop();
    held.resolve();
    expect(await stopped).toBe("drained");
    expect(deliveries).toHaveLength(10);
    expect(await open.queues.partition(job, 0).counts()).toMatchObject({ completed: 10, waiting: 20, active: 0 });
  });

  test("gives up at its deadline: the signal fires, the items stay for others", async () => {
    await using open = await openQueues(store);
    await open.queues.partition(job, 0).enqueue(itemsOf(3));
    const { handle, delivery, deliveries } = hands(() => Promise.withResolvers<void>().promise);
    const consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 10, handle });
    await delivery(3);
    expect(await consumer.stop({ deadlineMs: 50 })).toBe("abandoned");
    expect(deliveries.map(({ context }) => context.signal.aborted)).toEqual([true, true, true]);
    expect(await open.queues.partition(job, 0).states(itemsOf(3))).toEqual(["active", "active", "active"]);
  });

  test("can be aborted while it drains: the signal fires, and who waits for its end is told", async () => {
    await using open = await openQueues(store);
    await open.queues.partition(job, 0).enqueue(itemsOf(2));
    const { handle, delivery, deliveries } = hands(() => Promise.withResolvers<void>().promise);
    const consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 10, handle });
    await delivery(2);
    const stopped = consumer.stop();
    await consumer.abort("lease lost");
    expect(await stopped).toBe("abandoned");
    expect(deliveries.map(({ context }) => context.signal.reason)).toEqual(["lease lost", "lease lost"]);
  });

  test("fires the signal of a job whose lock is another's", async () => {
    await using open = await openQueues(store);
    await open.queues.partition(job, 0).enqueue(itemsOf(1));
    const lost = Promise.withResolvers<unknown>();
    const { handle, delivery } = hands(async (_item, { signal }) => {
      signal.addEventListener("abort", () => lost.resolve(signal.reason));
      await lost.promise;
    });
    await using _consumer = open.queues.startConsumer({ job, partition: 0, concurrency: 1, handle });
    await delivery(1);
    // Gone under its consumer, as after a failover of Redis that forgot it.
    await open.queues.partition(job, 0).bullQueue.obliterate({ force: true });
    expect(await lost.promise).toBe("lock lost");
  });
});
