/** Servers that belong together: sentinels with those that they watch, and a cluster. */
import { existsSync } from "node:fs";
import { startRedis, startRedisCluster, startSentinels } from "@nightwriter/services";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}/cwd`);
}

describe("startSentinels", () => {
  test("makes the replica the primary when that is killed, and tells whoever has its URL", async () => {
    await using primary = await startRedis();
    const password = decodeURIComponent(new URL(primary.url).password);
    await using replica = await startRedis({ replicaOf: primary.url, password });
    await using sentinels = await startSentinels({ primaryUrl: primary.url, name: "one" });
    expect(sentinels.primaryPort()).toBe(primary.port);
    expect(sentinels.url).toMatch(
      /^redis\+sentinel:\/\/default:\w+@127\.0\.0\.1:\d+(?:,127\.0\.0\.1:\d+){2}\/one\?sentinelPassword=\w+$/,
    );
    await primary.kill();
    await expect.poll(() => sentinels.primaryPort(), { timeout: 50_000 }).toBe(replica.port);
    await expect.poll(() => replica.ask("role"), { timeout: 10_000 }).toContain("master");
    await sentinels.stop();
    expect(sentinels.pids.filter(isRunning)).toEqual([]);
  }, 120_000);
});

describe("startRedisCluster", () => {
  test("is whole, with every slot on a primary and a replica for each of them", async () => {
    await using cluster = await startRedisCluster({ replicas: 1, nodeTimeoutMs: 60_000 });
    expect([cluster.primaries.length, cluster.replicas.length]).toEqual([3, 3]);
    for (const [index, replica] of cluster.replicas.entries()) {
      expect(await replica.ask("info", "replication")).toContain(`master_port:${cluster.primaries[index]?.port}`);
    }
    const { hosts, password } = /:(?<password>\w+)@(?<hosts>.*)$/.exec(cluster.url)?.groups ?? {};
    expect(hosts?.split(",")).toHaveLength(6);
    const client = new Redis.Cluster([{ host: "127.0.0.1", port: cluster.primaries[0]?.port ?? 0 }], {
      lazyConnect: true,
      redisOptions: { password: password ?? "" },
    });
    try {
      await client.connect();
      for (let index = 0; index < 30; index++) await client.set(`key ${index}`, index);
      const sizes = await Promise.all(cluster.primaries.map(async (node) => Number(await node.ask("dbsize"))));
      expect(Math.min(...sizes)).toBeGreaterThan(0);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(30);
    } finally {
      client.disconnect();
    }
    await cluster.stop();
    expect([...cluster.primaries, ...cluster.replicas].filter(({ pid }) => isRunning(pid))).toEqual([]);
  }, 120_000);
});
