import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { LeaseClaim } from "@nightwriter/lease";
import {
  type RedisClusterService,
  type RedisService,
  startRedisCluster,
  startTcpProxy,
  type TcpProxy,
} from "@nightwriter/services";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeLeaseStore, type LeaseServer } from "./contract.ts";
import { faultOf, openInRedis } from "./leases-of-a-test.ts";
import { redisClient, until } from "./redis-client.ts";

const soon = { timeout: 40_000, interval: 100 };

interface ProxiedCluster extends AsyncDisposable {
  readonly url: string;
  readonly proxies: readonly TcpProxy[];
}

/** Each node tells clients that it is where its proxy is, and nodes speak to each other past it. */
async function startProxied(): Promise<ProxiedCluster> {
  await using started = new AsyncDisposableStack();
  const cluster = started.use(await startRedisCluster({ nodeTimeoutMs: 60_000 }));
  const proxies: TcpProxy[] = [];
  for (const node of cluster.primaries) {
    const proxy = started.use(await startTcpProxy({ port: node.port }));
    await node.ask("config", "set", "cluster-announce-port", String(proxy.port));
    proxies.push(proxy);
  }
  for (const node of cluster.primaries) {
    const told = async (): Promise<boolean> => {
      const slots = await node.ask("cluster", "slots");
      return proxies.every(({ port }) => slots.includes(`:${port}`));
    };
    await until(told);
  }
  const { username, password } = new URL(cluster.primaries[0]?.url ?? "");
  const url = `redis+cluster://${username}:${password}@${proxies.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  const running = started.move();
  return { url, proxies, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function start(): Promise<LeaseServer> {
  const cluster = await startProxied();
  const all = (act: (proxy: TcpProxy) => void) => () => cluster.proxies.forEach(act);
  return {
    open: (options) => openInRedis({ ...options, url: cluster.url }),
    hold: all((proxy) => proxy.hold()),
    cut: all((proxy) => proxy.cut()),
    resume: all((proxy) => proxy.resume()),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

describeLeaseStore("Redis Cluster", start);

function claimsOf(count: number): readonly LeaseClaim[] {
  return Array.from({ length: count }, (_, index) => ({ name: `jobs/${index}`, holder: "a", nonce: randomUUID() }));
}

/** The names of the leases that a node has. */
async function namesAt(node: RedisService, prefix: string): Promise<readonly string[]> {
  await using client = await redisClient(node.url);
  const keys = await client.keys(`${prefix}:lease:*`);
  return keys.map((key) => key.slice(`${prefix}:lease:`.length));
}

describe("leases in a cluster", () => {
  let cluster: RedisClusterService;
  beforeAll(async () => {
    // Patient: a node that a test freezes is not declared dead.
    cluster = await startRedisCluster({ nodeTimeoutMs: 60_000 });
  }, 120_000);
  afterAll(async () => cluster.stop());

  it("are on all nodes, and each node gets its share of a renewal in one piece", async () => {
    await using store = await openInRedis({ url: cluster.url, prefix: "spread" });
    const claims = claimsOf(32);
    for (const claim of claims) await store.acquire(claim);
    const shares = await Promise.all(cluster.primaries.map((node) => namesAt(node, "spread")));
    expect(shares.flat().toSorted()).toEqual(claims.map(({ name }) => name).toSorted());
    expect(Math.min(...shares.map((share) => share.length))).toBeGreaterThan(3);

    // How often a node has read from its clients, and how many scripts it has run. The question itself is read, too.
    const work = async (node: RedisService): Promise<{ reads: number; scripts: number }> => {
      const info = await node.ask("info", "everything");
      const number = (pattern: RegExp): number => Number(pattern.exec(info)?.[1] ?? "0");
      return { reads: number(/total_reads_processed:(\d+)/), scripts: number(/cmdstat_eval:calls=(\d+)/) };
    };
    const fewest = cluster.primaries.map(() => Number.POSITIVE_INFINITY);
    // Now and then the client looks where the slots are, which is read as well.
    for (let round = 0; round < 5; round++) {
      const before = await Promise.all(cluster.primaries.map(work));
      const idle = await Promise.all(cluster.primaries.map(work));
      expect((await store.renew(claims)).size).toBe(claims.length);
      const after = await Promise.all(cluster.primaries.map(work));
      for (const [index, { reads, scripts }] of after.entries()) {
        const asking = (idle[index]?.reads ?? 0) - (before[index]?.reads ?? 0);
        fewest[index] = Math.min(fewest[index] ?? 0, reads - (idle[index]?.reads ?? 0) - asking);
        expect(scripts - (idle[index]?.scripts ?? 0)).toBe(shares[index]?.length);
      }
    }
    expect(fewest).toEqual([1, 1, 1]);
  });

  it("can be had as soon as the store is open, from a node that was slow to answer too", async () => {
    await using proxied = await startProxied();
    const slow = proxied.proxies.at(-1);
    slow?.hold();
    const opening = openInRedis({ url: proxied.url, prefix: "slow" });
    await setTimeout(300);
    slow?.resume();
    await using store = await opening;
    const grants = await Promise.all(claimsOf(24).map((claim) => store.acquire(claim)));
    expect(grants).not.toContain(undefined);
  });

  it("follow their slot while it is moved, and when it has moved", async () => {
    await using store = await openInRedis({ url: cluster.url, prefix: "moved" });
    const claims = claimsOf(12);
    for (const claim of claims) await store.acquire(claim);
    const names = new Set(claims.map(({ name }) => name));
    const [from, to, third] = cluster.primaries;
    if (from === undefined || to === undefined || third === undefined) throw new Error("a cluster has three nodes");
    const [name] = await namesAt(from, "moved");
    const key = `moved:lease:${name}`;
    const slot = await from.ask("cluster", "keyslot", key);
    const [fromId, toId] = [await from.ask("cluster", "myid"), await to.ask("cluster", "myid")];
    const { password } = new URL(to.url);

    await to.ask("cluster", "setslot", slot, "importing", fromId);
    await from.ask("cluster", "setslot", slot, "migrating", toId);
    await from.ask("migrate", "127.0.0.1", String(to.port), '""', "0", "5000", "auth", password, "keys", key);
    expect(await store.renew(claims)).toEqual(names);
    expect((await store.find([...names])).size).toBe(names.size);

    for (const node of [to, from, third]) await node.ask("cluster", "setslot", slot, "node", toId);
    expect(await store.renew(claims)).toEqual(names);
    expect(await namesAt(to, "moved")).toContain(name);
    await store.release(claims);
    expect(await store.find([...names])).toEqual(new Map());
  });

  it("of a node that is away are given up before the others' time is over, and the others are kept", async () => {
    await using store = await openInRedis({ url: cluster.url, prefix: "away", ttlMs: 8_000 });
    const claims = claimsOf(24);
    for (const claim of claims) await store.acquire(claim);
    const [frozen] = cluster.primaries;
    if (frozen === undefined) throw new Error("a cluster has nodes");
    const lost = new Set(await namesAt(frozen, "away"));
    expect(lost.size).toBeGreaterThan(0);
    const kept = claims.map(({ name }) => name).filter((name) => !lost.has(name));
    process.kill(frozen.pid, "SIGSTOP");
    const since = performance.now();
    try {
      expect((await faultOf(store.renew(claims))).code).toBe("lease_store_away");
      await expect
        .poll(() => store.renew(claims).catch(() => "away"), { ...soon, interval: 50 })
        .toEqual(new Set(kept));
      // Patience first. How long it lasts at most is a matter of the machine's load; the keeper's time would be 7.2 s.
      expect(performance.now() - since).toBeGreaterThan(0.25 * 8_000);
    } finally {
      process.kill(frozen.pid, "SIGCONT");
    }
    await expect
      .poll(
        () =>
          store.release(claims).then(
            () => "released",
            () => "away",
          ),
        soon,
      )
      .toBe("released");
    await expect
      .poll(
        () => store.acquire({ ...claims[0], name: [...lost][0] ?? "", holder: "b", nonce: "1" }).catch(() => "away"),
        soon,
      )
      .toBeDefined();
  });

  it("are all unknown when no node answers, however long", async () => {
    await using store = await openInRedis({ url: cluster.url, prefix: "dark", ttlMs: 4_000 });
    const claims = claimsOf(6);
    for (const claim of claims) await store.acquire(claim);
    for (const node of cluster.primaries) process.kill(node.pid, "SIGSTOP");
    try {
      const until = performance.now() + 4_000;
      while (performance.now() < until) expect((await faultOf(store.renew(claims))).code).toBe("lease_store_away");
    } finally {
      for (const node of cluster.primaries) process.kill(node.pid, "SIGCONT");
    }
    await expect.poll(() => store.renew(claims).catch(() => "away"), soon).toEqual(new Set());
  });

  it("are refused by a node that may evict keys", async () => {
    const [node] = cluster.primaries;
    await node?.ask("config", "set", "maxmemory-policy", "allkeys-lru");
    const fault = await faultOf(openInRedis({ url: cluster.url }));
    await node?.ask("config", "set", "maxmemory-policy", "noeviction");
    expect(fault).toMatchObject({ code: "lease_store_unfit" });
    expect(fault.message).toContain("maxmemory-policy is allkeys-lru");
  });
});
