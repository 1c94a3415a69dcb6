import { type QueueStore, spawnApp } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";
import { hands, itemsOf, job, openQueues } from "./fixture.ts";

const items = itemsOf(16);
/** lockDuration + stalledInterval, and what a busy machine adds, as the package's README promises. */
const promisedMs = 15_000;
/** For a machine that does much else. */
const slackMs = 10_000;

/** A consumer in a process of its own that has every item in flight when this resolves. */
async function holdAll(url: string, prefix: string): Promise<Awaited<ReturnType<typeof spawnApp>>> {
  const holder = await spawnApp("test/queue/programs/hold.ts", {}, { args: [url, prefix, String(items.length)] });
  await holder.waitForLog(({ msg, held }) => msg === "held" && held === items.length, 60_000);
  return holder;
}

async function crashTwice(store: QueueStore): Promise<void> {
  await using open = await openQueues(store);
  const queue = open.queues.partition(job, 0);
  await queue.enqueue(items);
  await using first = await holdAll(open.url, open.prefix);
  first.signal("SIGKILL");
  await first.exited;
  // Waits as long as is promised for what the first one had, and dies with it as well.
  await using second = await holdAll(open.url, open.prefix);
  second.signal("SIGKILL");
  await second.exited;

  const killedAt = performance.now();
  const { handle, keys, deliveries } = hands();
  const consumer = open.queues.startConsumer({ job, partition: 0, concurrency: items.length, handle });
  await keys(items.length);
  expect(performance.now() - killedAt).toBeLessThan(promisedMs + slackMs);
  expect(deliveries.map(({ context }) => context.attempt)).toEqual(items.map(() => 1));
  await consumer.stop();
  expect(await queue.counts()).toEqual({ waiting: 0, delayed: 0, active: 0, completed: items.length, failed: 0 });
}

describe.concurrent("what a killed consumer had in flight", () => {
  // BullMQ's own default would fail every job at the second crash.
  test.each(["redis", "postgres"] as const)(
    "is delivered again within 15 s, a second crash included, and uses up no attempt, on %s",
    crashTwice,
    180_000,
  );
});
