import { connectQueues } from "@nightwriter/queue";
import { startTcpProxy } from "@nightwriter/services";
import { testQueue } from "@nightwriter/testkit";
import { expect, test } from "vitest";
import { itemsOf, job } from "./fixture.ts";

/** 15 s, and what a busy machine adds. */
const boundMs = 25_000;

test("a Redis that accepts and says nothing is given up in bounded time, and answers again when it speaks", async () => {
  await using store = await testQueue("redis");
  await using proxy = await startTcpProxy({ port: Number(new URL(store.url).port) });
  const { prefix } = store;
  const queues = await connectQueues({ url: proxy.urlFor(store.url), prefix, applicationName: "test" });
  const queue = queues.partition(job, 0);
  await queue.enqueue(itemsOf(3));
  proxy.hold();
  const since = performance.now();
  const asked = await Promise.allSettled([queue.counts(), queues.ping()]);
  expect(performance.now() - since).toBeLessThan(boundMs);
  expect(asked).toMatchObject([{ reason: { retryable: true } }, { reason: { retryable: true } }]);
  proxy.resume();
  await expect.poll(() => queue.counts().catch(() => undefined), { timeout: boundMs }).toMatchObject({ waiting: 3 });
  await queues.close();
});
