import { type LeaseClaim, LeaseFault } from "@nightwriter/lease";
import { ensureServer, type RedisService, startRedis, startTcpProxy } from "@nightwriter/services";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeLeaseStore, type LeaseServer } from "./contract.ts";
import { claimOf, faultOf, openInRedis } from "./leases-of-a-test.ts";
import { redisClient } from "./redis-client.ts";

async function start(): Promise<LeaseServer> {
  await using started = new AsyncDisposableStack();
  const { port, url } = started.use(await startRedis());
  const { hold, cut, resume, urlFor } = started.use(await startTcpProxy({ port }));
  const running = started.move();
  return {
    open: (options) => openInRedis({ ...options, url: urlFor(url) }),
    hold,
    cut,
    resume,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

describeLeaseStore("Redis", start);

function claimsOf(...names: readonly string[]): readonly LeaseClaim[] {
  return names.map((name) => claimOf(name));
}

describe("openRedisLeases", () => {
  let redis: RedisService;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => redis.stop());

  it("keeps one connection for all leases, under its name, and none once it is closed", async () => {
    await using client = await redisClient(redis.url);
    const connections = async (): Promise<number> =>
      String(await client.call("client", "list")).match(/name=leases-of-a-test /g)?.length ?? 0;
    const store = await openInRedis({ url: redis.url });
    const claims = claimsOf(...Array.from({ length: 50 }, (_, index) => `jobs/${index}`));
    await Promise.all(claims.map((claim) => store.acquire(claim)));
    expect(await connections()).toBe(1);
    await store.close();
    await expect.poll(connections).toBe(0);
  });

  it("sends one command for each call, however many leases it is about", async () => {
    await using client = await redisClient(redis.url);
    await using store = await openInRedis({ url: redis.url, prefix: "commands" });
    const claims = claimsOf(...Array.from({ length: 64 }, (_, index) => `jobs/${index}`));
    for (const claim of claims) await store.acquire(claim);
    const commands = await client.monitored(async () => {
      expect((await store.renew(claims)).size).toBe(64);
      expect((await store.find(claims.map(({ name }) => name))).size).toBe(64);
      await store.release(claims);
    });
    expect(commands.map(([word]) => word)).toEqual(["eval", "eval", "eval"]);
  });

  it("writes a key that expires, under the prefix, with holder and nonce", async () => {
    await using client = await redisClient(redis.url);
    await using store = await openInRedis({ url: redis.url, prefix: "written" });
    await store.acquire({ name: "job/7", holder: "worker-1", nonce: "4f0a" });
    expect(await client.get("written:lease:job/7")).toBe("worker-1 4f0a");
    const left = await client.pttl("written:lease:job/7");
    expect(left).toBeGreaterThan(25_000);
    expect(left).toBeLessThanOrEqual(30_000);
  });

  it("does not send later what its caller gave up while the server was silent", async () => {
    await using proxy = await startTcpProxy({ port: redis.port });
    await using client = await redisClient(redis.url);
    await using store = await openInRedis({ url: proxy.urlFor(redis.url), prefix: "late", ttlMs: 1_500 });
    proxy.hold();
    expect((await faultOf(store.acquire(claimOf("held")))).code).toBe("lease_store_away");
    const opened = proxy.counts().accepted;
    // What the proxy has taken from the store's socket does not reach the server either: as if a network had dropped it.
    proxy.cut();
    proxy.resume();
    await expect.poll(() => store.find(["held"]).catch(() => "away"), { timeout: 10_000 }).toEqual(new Map());
    expect(proxy.counts().accepted).toBeGreaterThan(opened);
    expect(await client.exists("late:lease:held")).toBe(0);
  });

  it("gives up a try on a server that is frozen, and is of use again when that goes on", async () => {
    await using frozen = await startRedis();
    await using store = await openInRedis({ url: frozen.url, ttlMs: 3_000 });
    const claim = claimOf("x");
    process.kill(frozen.pid, "SIGSTOP");
    const askedAtMs = performance.now();
    expect((await faultOf(store.acquire(claim))).message).toContain("no answer within 900 ms");
    expect(performance.now() - askedAtMs).toBeLessThan(1_000 + 1_000);
    process.kill(frozen.pid, "SIGCONT");
    await expect
      .poll(() => store.acquire(claim).catch(() => "away"), { timeout: 10_000 })
      .toEqual({ storeToken: undefined });
  });

  it("forgets nothing when the server is killed and comes back", async () => {
    // It writes out what it answers before it answers.
    const killed = await startRedis({ args: ["--appendfsync", "always"] });
    await using store = await openInRedis({ url: killed.url });
    const claims = claimsOf("x", "y");
    for (const claim of claims) await store.acquire(claim);
    await killed.kill();
    expect((await faultOf(store.renew(claims))).code).toBe("lease_store_away");
    const password = decodeURIComponent(new URL(killed.url).password);
    await using again = await startRedis({ dir: killed.dir, port: killed.port, password });
    await expect.poll(() => store.renew(claims).catch(() => "away"), { timeout: 10_000 }).toEqual(new Set(["x", "y"]));
    await again.stop();
    await killed.stop();
  });

  it("grants a lease again when the server's clock jumps over its end, and the holder learns it at its renewal", async () => {
    await ensureServer("faketime");
    await using jumpy = await startRedis({ movableClock: true });
    await using holder = await openInRedis({ url: jumpy.url, ttlMs: 60_000 });
    await using rival = await openInRedis({ url: jumpy.url, ttlMs: 60_000 });
    const [mine, theirs] = [claimOf("x"), claimOf("x")];
    await holder.acquire(mine);
    expect(await rival.acquire(theirs)).toBeUndefined();
    await jumpy.moveClock(3_600_000);
    await expect.poll(() => rival.acquire(theirs), { timeout: 10_000 }).toBeDefined();
    expect(await holder.renew([mine])).toEqual(new Set());
  });

  it("refuses a replica, and one that may evict keys, saying all that is wrong and no password", async () => {
    await using replica = await startRedis({ replicaOf: redis.url, args: ["--maxmemory-policy", "volatile-ttl"] });
    const fault = await faultOf(openInRedis({ url: replica.url }));
    expect(fault).toMatchObject({ code: "lease_store_unfit", retryable: false });
    expect(fault.message).toMatch(/it is a slave.*maxmemory-policy is volatile-ttl/);
    expect(fault.message).not.toContain(new URL(replica.url).password);
  });

  it("is of no use while its server is made a replica, and of use again when it is promoted", async () => {
    await using demoted = await startRedis({ password: decodeURIComponent(new URL(redis.url).password) });
    await using client = await redisClient(demoted.url);
    await using store = await openInRedis({ url: demoted.url, prefix: "demoted", ttlMs: 3_000 });
    await client.replicaof("127.0.0.1", redis.port);
    const acquire = async (): Promise<string> => {
      return store.acquire(claimOf("x")).then(
        () => "granted",
        (error: unknown) => (error instanceof LeaseFault ? error.code : "bug"),
      );
    };
    // Told by its first answer that it is a replica, the store connects anew, and then knows what it has before it.
    expect(await acquire()).toBe("lease_store_away");
    await expect.poll(acquire, { timeout: 10_000 }).toBe("lease_store_unfit");
    await client.replicaof("no", "one");
    await expect.poll(acquire, { timeout: 10_000 }).toBe("granted");
  });

  it("refuses a wrong password, and does not tell it", async () => {
    const url = new URL(redis.url);
    url.password = "not-the-password";
    const fault = await faultOf(openInRedis({ url: url.href }));
    expect(fault).toMatchObject({ code: "lease_store_unfit" });
    expect(fault.message).toContain("WRONGPASS");
    expect(fault.message).not.toContain(url.password);
  });

  it("is away where there is no server", async () => {
    await using proxy = await startTcpProxy({ port: redis.port });
    proxy.cut();
    expect(await faultOf(openInRedis({ url: proxy.urlFor(redis.url) }))).toMatchObject({
      code: "lease_store_away",
      retryable: true,
    });
  });
});
