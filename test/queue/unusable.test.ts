/** A Redis that answers and is of no use: what reading the claim, which every process does all the time, says of it. */
import { connectQueues, type Queues } from "@nightwriter/queue";
import { type RedisService, startRedis } from "@nightwriter/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let redis: RedisService;
let queues: Queues;
beforeAll(async () => {
  redis = await startRedis();
  queues = await connectQueues({ url: redis.url, prefix: "unusable", applicationName: "test" });
});
afterAll(async () => {
  await queues.close();
  await redis.stop();
});

async function fault(): Promise<unknown> {
  return queues.claimSlot.read().then(
    () => "of use",
    (error: unknown) => error,
  );
}

describe("a Redis of no use", () => {
  test.each<[string, { spoil: readonly string[]; mend: readonly string[]; said: object }]>([
    [
      "may evict keys by now",
      {
        spoil: ["config", "set", "maxmemory-policy", "allkeys-lru"],
        mend: ["config", "set", "maxmemory-policy", "noeviction"],
        said: { code: "queue_misconfigured", message: expect.stringMatching(/set maxmemory-policy noeviction$/) },
      },
    ],
    [
      "keeps no log of writes by now",
      {
        spoil: ["config", "set", "appendonly", "no"],
        mend: ["config", "set", "appendonly", "yes"],
        said: { code: "queue_misconfigured", message: expect.stringMatching(/set appendonly yes$/) },
      },
    ],
    [
      "is full",
      {
        spoil: ["config", "set", "maxmemory", "1"],
        mend: ["config", "set", "maxmemory", "0"],
        said: { code: "queue_full", retryable: true, message: expect.stringMatching(/OOM.*make room in it$/) },
      },
    ],
    [
      "waits for replicas that are not there",
      {
        spoil: ["config", "set", "min-replicas-to-write", "1"],
        mend: ["config", "set", "min-replicas-to-write", "0"],
        said: { code: "queue_unreachable", retryable: true, message: expect.stringContaining("NOREPLICAS") },
      },
    ],
    [
      "has become a replica",
      {
        spoil: ["replicaof", "127.0.0.1", "1"],
        mend: ["replicaof", "no", "one"],
        said: {
          code: "queue_misconfigured",
          message: expect.stringMatching(/use the primary's address in QUEUE_URL$/),
        },
      },
    ],
    [
      "no longer lets this user write",
      {
        spoil: ["acl", "setuser", "default", "-set"],
        mend: ["acl", "setuser", "default", "+set"],
        said: { code: "queue_denied", retryable: false, message: expect.stringContaining("NOPERM") },
      },
    ],
    [
      "no longer lets this user see these keys",
      {
        spoil: ["acl", "setuser", "default", "resetkeys", "~other:*"],
        mend: ["acl", "setuser", "default", "allkeys"],
        said: { code: "queue_denied", retryable: false, message: expect.stringContaining("NOPERM") },
      },
    ],
  ])("says that it %s, although it answers, and is of use again afterwards", async (_, { spoil, mend, said }) => {
    expect(await fault()).toBe("of use");
    await redis.ask(...spoil);
    try {
      await queues.ping();
      expect(await fault()).toMatchObject(said);
    } finally {
      await redis.ask(...mend);
    }
    await expect.poll(fault).toBe("of use");
  });
});
