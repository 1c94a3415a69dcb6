/** A queue's store of a test's own: a prefix in the run's Redis, or a database in its PostgreSQL. */

import { randomBytes } from "node:crypto";
import { runIdOf, withRedis } from "./redis-identity.ts";
import { registerResource } from "./resources.ts";
import { servers } from "./servers.ts";
import { testDatabase } from "./test-database.ts";

/** Which store a queue is kept in. */
export type QueueStore = "postgres" | "redis";

/** Both stores, for `describe.each(bothQueues)("a queue in %s", (store) => …)`. */
export const bothQueues: readonly QueueStore[] = ["redis", "postgres"];

/** Both PostgreSQL servers, for `describe.each(bothPostgres)("on PostgreSQL %s", (server) => …)`. */
export const bothPostgres: readonly ["18", "15"] = ["18", "15"];

/** Where a test's queues are: what `connectQueues` and an app's environment take. */
export interface TestQueue extends AsyncDisposable {
  /** What QUEUE_URL takes. */
  readonly url: string;
  /** The prefix of all its keys in Redis; in PostgreSQL the database is its own, and the prefix only a name. */
  readonly prefix: string;
}

/** A queue store with nothing in it. Disposal removes all that was put in. */
export async function testQueue(store: QueueStore): Promise<TestQueue> {
  if (store === "redis") return testRedis();
  const { url, name, [Symbol.asyncDispose]: dispose } = await testDatabase({ max: 1 });
  return { url, prefix: name, [Symbol.asyncDispose]: dispose };
}

/** A prefix in the run's Redis, after it was proved to be that. */
export async function testRedis(): Promise<TestQueue> {
  const { url, runId } = servers().redis;
  const reached = await runIdOf(url);
  if (reached !== runId) throw new Error(`Redis: reached run ${reached} instead of ${runId}`);
  const prefix = `nwtest_${randomBytes(6).toString("hex")}`;
  const dispose = registerResource(`Redis keys ${prefix}`, () => removeKeys(url, prefix));
  return { url, prefix, [Symbol.asyncDispose]: dispose };
}

async function removeKeys(url: string, prefix: string): Promise<void> {
  await withRedis(url, async (redis) => {
    for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
      if (Array.isArray(keys) && keys.length > 0) await redis.unlink(...keys.map(String));
    }
  });
}
