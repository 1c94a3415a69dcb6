/** What becomes of leases when another server takes over from the one that had them: by sentinels, and in a cluster. */
import {
  type RedisService,
  type SentinelsService,
  startRedis,
  startRedisCluster,
  startSentinels,
} from "@nightwriter/services";
import { describe, expect, it } from "vitest";
import { claimOf, openInRedis } from "./leases-of-a-test.ts";
import { copied } from "./redis-client.ts";

interface Watched extends AsyncDisposable {
  readonly primary: RedisService;
  readonly replica: RedisService;
  readonly sentinels: SentinelsService;
}

async function watched(): Promise<Watched> {
  await using started = new AsyncDisposableStack();
  const primary = started.use(await startRedis());
  const password = decodeURIComponent(new URL(primary.url).password);
  const replica = started.use(await startRedis({ replicaOf: primary.url, password }));
  const sentinels = started.use(await startSentinels({ primaryUrl: primary.url }));
  const running = started.move();
  return { primary, replica, sentinels, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

const soon = { timeout: 60_000, interval: 100 };

describe("a failover by sentinels", () => {
  it("of a primary that was killed leaves the leases that were copied, and the store works on the new one", async () => {
    await using servers = await watched();
    const { primary, replica, sentinels } = servers;
    await using store = await openInRedis({ url: sentinels.url });
    const claims = [claimOf("x"), claimOf("y")];
    for (const claim of claims) await store.acquire(claim);
    await copied(primary);
    await primary.kill();
    await expect.poll(() => store.renew(claims).catch(() => "away"), soon).toEqual(new Set(["x", "y"]));
    await expect.poll(() => sentinels.primaryPort(), soon).toBe(replica.port);
    const [rivals, fresh] = [claimOf("x", "b"), claimOf("z")];
    // The store leaves its connection once more for each sentinel that tells it late.
    await expect.poll(() => store.acquire(rivals).catch(() => "away"), soon).toBeUndefined();
    await expect.poll(() => store.acquire(fresh).catch(() => undefined), soon).toBeDefined();
  }, 180_000);

  it("of a primary that is frozen moves the store too, and the old one is not asked when it wakes", async () => {
    await using servers = await watched();
    const { primary, replica, sentinels } = servers;
    await using store = await openInRedis({ url: sentinels.url, ttlMs: 20_000 });
    const after = claimOf("after");
    process.kill(primary.pid, "SIGSTOP");
    try {
      await expect
        .poll(
          () =>
            store.acquire(after).then(
              (grant) => grant !== undefined,
              () => false,
            ),
          soon,
        )
        .toBe(true);
      await expect.poll(() => sentinels.primaryPort(), soon).toBe(replica.port);
    } finally {
      process.kill(primary.pid, "SIGCONT");
    }
    // Not before the sentinels have told it does it know that it is none any more.
    await expect.poll(() => primary.ask("info", "replication"), soon).toContain("role:slave");
    const later = claimOf("later");
    await expect.poll(() => store.acquire(later).catch(() => undefined), soon).toBeDefined();
    expect(await replica.ask("exists", "test:lease:later")).toBe("1");
  }, 180_000);

  it("that is told while the store waits for a frozen sentinel does not end it", async () => {
    await using servers = await watched();
    const { primary, replica, sentinels } = servers;
    await using store = await openInRedis({ url: sentinels.url });
    const [asked = 0] = sentinels.pids;
    const mine = claimOf("x");
    process.kill(asked, "SIGSTOP");
    try {
      await primary.kill();
      await expect.poll(() => sentinels.primaryPort(), soon).toBe(replica.port);
      await expect
        .poll(
          () =>
            store.acquire(mine).then(
              (grant) => grant !== undefined,
              (error: Error) => error.message,
            ),
          soon,
        )
        .toBe(true);
    } finally {
      process.kill(asked, "SIGCONT");
    }
  }, 180_000);

  it("forgets a lease that was not copied: it is granted again while its holder still trusts it", async () => {
    await using servers = await watched();
    const { primary, replica, sentinels } = servers;
    // As long as the sentinels may take, with an election that has to be held again.
    await using holder = await openInRedis({ url: sentinels.url, ttlMs: 100_000 });
    await using rival = await openInRedis({ url: sentinels.url, ttlMs: 100_000 });
    // A replica that has lost its primary and does not find back, before the lease is granted.
    await replica.ask("config", "set", "masterauth", "not-the-password");
    await primary.ask("client", "kill", "type", "replica");
    const [mine, theirs] = [claimOf("x"), claimOf("x", "b")];
    const askedAtMs = performance.now();
    expect(await holder.acquire(mine)).toBeDefined();
    await primary.kill();
    await expect
      .poll(
        () =>
          rival.acquire(theirs).then(
            (grant) => grant !== undefined,
            () => false,
          ),
        soon,
      )
      .toBe(true);
    expect(performance.now() - askedAtMs).toBeLessThan(holder.ttlMs);
    await expect.poll(() => holder.renew([mine]).catch(() => "away"), soon).toEqual(new Set());
  }, 180_000);
});

describe("a failover in a cluster", () => {
  it("leaves the leases that were copied, and the store works on the new primary", async () => {
    await using cluster = await startRedisCluster({ replicas: 1, nodeTimeoutMs: 60_000 });
    await using store = await openInRedis({ url: cluster.url, ttlMs: 60_000 });
    const claims = Array.from({ length: 24 }, (_, index) => claimOf(`jobs/${index}`));
    for (const claim of claims) await store.acquire(claim);
    const [killed] = cluster.primaries;
    if (killed === undefined) throw new Error("a cluster has nodes");
    expect(Number(await killed.ask("dbsize"))).toBeGreaterThan(0);
    await copied(killed);
    // Only now: on a machine that stands still for a moment, the nodes would give up a primary that is well.
    for (const node of [...cluster.primaries, ...cluster.replicas]) {
      await node.ask("config", "set", "cluster-node-timeout", "2000");
    }
    await killed.kill();
    await expect
      .poll(() => store.renew(claims).catch(() => new Set()), soon)
      .toEqual(new Set(claims.map(({ name }) => name)));
  }, 180_000);
});
