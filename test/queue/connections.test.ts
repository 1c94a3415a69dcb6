import { connectQueues, type Queues } from "@nightwriter/queue";
import { startRedis } from "@nightwriter/services";
import { testDatabase } from "@nightwriter/testkit";
import { Redis } from "ioredis";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { hands, itemsOf, job } from "./fixture.ts";

const partitions = 16;

/** Produces to and consumes from every partition, as a worker that is alone does. */
async function useAll(queues: Queues): Promise<void> {
  const { handle, delivery } = hands();
  for (let partition = 0; partition < partitions; partition += 1) {
    queues.startConsumer({ job, partition, concurrency: 100, handle });
  }
  const each = Array.from({ length: partitions }, (_, partition) => queues.partition(job, partition));
  await Promise.all(each.map(async (queue) => queue.enqueue(itemsOf(50))));
  await delivery(partitions * 50);
  await Promise.all(each.map(async (queue) => queue.counts()));
}

test("a process that consumes 16 partitions of a Redis holds 18 connections, and none after it has closed", async () => {
  await using redis = await startRedis();
  const onlooker = new Redis(redis.url);
  const others = async (): Promise<number> => {
    const clients = String(await onlooker.client("LIST"))
      .trim()
      .split("\n");
    const own = await onlooker.client("ID");
    return clients.filter((line) => !line.startsWith(`id=${own} `)).length;
  };
  const queues = await connectQueues({ url: redis.url, prefix: "connections", applicationName: "worker-1" });
  await useAll(queues);
  expect(await others()).toBe(partitions + 2);
  await queues.close();
  await expect.poll(others).toBe(0);
  onlooker.disconnect();
});

test("a process that only produces holds one connection to Redis", async () => {
  await using redis = await startRedis();
  const onlooker = new Redis(redis.url);
  await using queues = await connectQueues({ url: redis.url, prefix: "connections", applicationName: "scheduler-1" });
  for (let partition = 0; partition < partitions; partition += 1)
    await queues.partition(job, partition).enqueue(itemsOf(1));
  const named = String(await onlooker.client("LIST"))
    .split("\n")
    .filter((line) => line.includes("name=scheduler-1"));
  expect(named).toHaveLength(1);
  onlooker.disconnect();
});

test("a process that consumes 16 partitions of a PostgreSQL holds its pool and one that listens, and none after it has closed", async () => {
  await using kept = await testDatabase();
  const held = async (): Promise<number> => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name like 'worker-1 queue%'`.execute(kept.db);
    return rows[0]?.count ?? 0;
  };
  const queues = await connectQueues({
    url: kept.url,
    prefix: "connections",
    applicationName: "worker-1",
    poolSize: 3,
  });
  await useAll(queues);
  expect(await held()).toBe(3 + 1);
  await queues.close();
  await expect.poll(held).toBe(0);
});
