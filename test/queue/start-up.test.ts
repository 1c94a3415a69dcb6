import { connectQueues, QueueFault } from "@nightwriter/queue";
import { startRedis } from "@nightwriter/services";
import { bothQueues, testDatabase, testQueue } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

/** What connecting to this URL says is wrong. */
async function faultAt(url: string, prefix = "refused"): Promise<QueueFault> {
  try {
    await (await connectQueues({ url, prefix, applicationName: "test" })).close();
  } catch (error) {
    if (error instanceof QueueFault) return error;
    throw error;
  }
  throw new Error(`${url} was accepted`);
}

describe("connectQueues", () => {
  test("refuses a Redis that may evict keys, and says what to set", async () => {
    await using redis = await startRedis({ args: ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"] });
    expect(await faultAt(redis.url)).toMatchObject({
      code: "queue_misconfigured",
      message: expect.stringMatching(/^queue redis at 127\.0\.0\.1:\d+: .*set maxmemory-policy noeviction$/),
    });
  });

  test("refuses a Redis without an append-only file, and says what to set", async () => {
    await using redis = await startRedis({ args: ["--appendonly", "no"] });
    expect(await faultAt(redis.url)).toMatchObject({
      code: "queue_misconfigured",
      message: expect.stringMatching(/set appendonly yes$/),
    });
  });

  test("refuses a replica, and says whose address to use", async () => {
    await using primary = await startRedis();
    await using replica = await startRedis({ replicaOf: primary.url });
    expect(await faultAt(replica.url)).toMatchObject({
      code: "queue_misconfigured",
      message: expect.stringMatching(/it is a slave, .*use the primary's address in QUEUE_URL$/),
    });
  });

  test.each(bothQueues)("says that nobody is there where a %s was", async (store) => {
    const scheme = store === "redis" ? "redis" : "postgres";
    // Port 1 is reserved, and nothing on this machine listens there.
    const fault = await faultAt(`${scheme}://night:secret@127.0.0.1:1/0`);
    expect(fault).toMatchObject({ code: "queue_unreachable", retryable: true });
    expect(fault.message).toMatch(/ECONNREFUSED.*try again, or see whether it runs$/);
  });

  test.each(bothQueues)("says that a password is wrong, and not what it is, at a %s", async (store) => {
    await using kept = await testQueue(store);
    const url = new URL(kept.url);
    url.password = "wr0ng";
    const fault = await faultAt(url.href);
    expect(fault).toMatchObject({ code: "queue_denied", retryable: false });
    expect(fault.message).not.toContain("wr0ng");
  });

  test("refuses a URL that is none of a queue's", async () => {
    expect(await faultAt("amqp://mq")).toMatchObject({ code: "queue_url_invalid" });
  });

  test("makes BullMQ's tables once, however many connect to a new database at the same time", async () => {
    await using kept = await testQueue("postgres");
    const options = { url: kept.url, prefix: kept.prefix, applicationName: "test" };
    const all = await Promise.all(Array.from({ length: 4 }, () => connectQueues(options)));
    const counts = await Promise.all(all.map(async (queues) => queues.partition("restaurant-totals", 0).counts()));
    expect(counts.map(({ waiting }) => waiting)).toEqual([0, 0, 0, 0]);
    await Promise.all(all.map((queues) => queues.close()));
  });

  test("needs no right to create anything when the tables are there", async () => {
    await using kept = await testDatabase();
    const asOwner = await connectQueues({ url: kept.url, prefix: "nightwriter", applicationName: "test" });
    await asOwner.close();
    const role = `queue_${kept.name}`;
    await sql`create role ${sql.id(role)} login password 'narrow'`.execute(kept.db);
    try {
      await sql`grant usage on schema nightwriter_queue to ${sql.id(role)}`.execute(kept.db);
      await sql`grant select, insert, update, delete on all tables in schema nightwriter_queue to ${sql.id(role)}`.execute(
        kept.db,
      );
      const url = new URL(kept.url);
      url.username = role;
      url.password = "narrow";
      await using queues = await connectQueues({ url: url.href, prefix: "nightwriter", applicationName: "test" });
      expect((await queues.partition("restaurant-totals", 0).counts()).waiting).toBe(0);
    } finally {
      await sql`drop owned by ${sql.id(role)}`.execute(kept.db);
      await sql`drop role ${sql.id(role)}`.execute(kept.db);
    }
  });
});
