import { startRedis } from "@nightwriter/services";
import { Redis } from "ioredis";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type Night, planNight } from "./night.ts";

const postgresName = "few-connections";

/** Connections to PostgreSQL of each application name of the worker; the queue's are in a database of their own. */
async function postgresConnections({ db }: Night): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; count: number }>`
    select application_name as name, count(*)::int as count from pg_stat_activity
    where application_name like ${`${postgresName}%`} group by 1 order by 1`.execute(db);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

async function redisConnections(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    const list = String(await redis.client("LIST", "TYPE", "NORMAL"));
    return list.trim().split("\n").length - 1;
  } finally {
    redis.disconnect();
  }
}

/** Where they are by default: with the queue. */
const withLeases = { LEASE_URL: "", BATCH_SIZE: "5" };

/** Heartbeats, looks and terms share two, which are made when they are needed and ended when they are not. */
const fleet = { [`${postgresName} fleet`]: expect.toSatisfy((count: number) => count === 1 || count === 2) };

describe("the connections of a worker that is busy on all of its 16 partitions", { timeout: 120_000 }, () => {
  it("are 6 to the database and 19 to Redis at most", async () => {
    await using redis = await startRedis();
    await using night = await planNight({ store: "redis", restaurants: 400, queueUrl: redis.url });
    const ours = await redisConnections(redis.url);
    await night.startWorker(postgresName, withLeases);
    await night.enqueue();
    await night.finished(400);

    expect(await postgresConnections(night)).toEqual({ [postgresName]: 4, ...fleet });
    expect((await redisConnections(redis.url)) - ours).toBe(19);
  });

  it("are 6 to the database, 2 for leases there and 5 to a queue in PostgreSQL at most", async () => {
    await using night = await planNight({ store: "postgres", restaurants: 400 });
    await night.startWorker(postgresName, withLeases);
    await night.enqueue();
    await night.finished(400);

    expect(await postgresConnections(night)).toEqual({
      [postgresName]: 4,
      ...fleet,
      [`${postgresName} leases`]: expect.toSatisfy((count: number) => count === 1 || count === 2),
      [`${postgresName} queue`]: 5,
    });
  });

  it("are one less to Redis without leases", async () => {
    await using redis = await startRedis();
    await using night = await planNight({ store: "redis", restaurants: 400, queueUrl: redis.url });
    const ours = await redisConnections(redis.url);
    await night.startWorker(postgresName, { BATCH_SIZE: "5" });
    await night.enqueue();
    await night.finished(400);

    expect(await postgresConnections(night)).toEqual({ [postgresName]: 4, ...fleet });
    expect((await redisConnections(redis.url)) - ours).toBe(18);
  });

  it("stay within the sizes that are configured", async () => {
    await using night = await planNight({ store: "postgres", restaurants: 400 });
    await night.startWorker(postgresName, { BATCH_SIZE: "5", DATABASE_POOL_SIZE: "2", QUEUE_POOL_SIZE: "3" });
    await night.enqueue();
    await night.finished(400);

    expect(await postgresConnections(night)).toEqual({ [postgresName]: 2, ...fleet, [`${postgresName} queue`]: 4 });
  });
});
