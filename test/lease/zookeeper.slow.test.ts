/** ZooKeeper: the contract of a store of leases, and what is particular about it. `--quick` leaves it out, so as not to need ZooKeeper. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { silentLogger } from "@nightwriter/core";
import type { LeaseStore } from "@nightwriter/lease";
import { openZookeeperLeases } from "@nightwriter/lease-zookeeper";
import { ensureServer, startTcpProxy, startZookeeper, type ZookeeperService } from "@nightwriter/services";
import { describe, expect, it } from "vitest";
import { describeLeaseStore, type LeaseServer } from "./contract.ts";
import { freeze } from "./freeze.ts";
import { claimOf } from "./leases-of-a-test.ts";

const applicationName = "leases of a test";
/** Sessions from 0.4 to 60 s, which end on a full tick. No machine crashes here, so no fsync. */
const settings = { tickTime: "200", maxSessionTimeout: "60000", forceSync: "no" };

async function start(): Promise<LeaseServer> {
  await ensureServer("zookeeper");
  await using started = new AsyncDisposableStack();
  const zookeeper = started.use(await startZookeeper({ settings }));
  const { hold, cut, resume, urlFor } = started.use(await startTcpProxy({ port: zookeeper.port }));
  const running = started.move();
  return {
    open: (options) => openZookeeperLeases({ ...options, url: urlFor(zookeeper.url), applicationName }),
    hold,
    cut,
    resume,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

describeLeaseStore("ZooKeeper", start, { storeTokens: true });

async function openAt(url: string, ttlMs = 3_000): Promise<LeaseStore> {
  return openZookeeperLeases({ url, prefix: "nwtest_particular", ttlMs, applicationName });
}

async function started(more: Readonly<Record<string, string>> = {}): Promise<ZookeeperService> {
  return startZookeeper({ settings: { ...settings, ...more } });
}

/** Three servers of one ensemble, each on ports of its own. */
async function startEnsemble(): Promise<readonly ZookeeperService[]> {
  const ids = [1, 2, 3];
  const ports = await freePorts(2 * ids.length);
  const servers = ids.map((id) => [`server.${id}`, `127.0.0.1:${ports[2 * id - 2]}:${ports[2 * id - 1]}`] as const);
  const ensemble = { ...settings, initLimit: "50", syncLimit: "50", ...Object.fromEntries(servers) };
  return Promise.all(ids.map((id) => startZookeeper({ settings: ensemble, id })));
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

async function isLeader({ port }: ZookeeperService): Promise<boolean> {
  return (await text(connect(port, "127.0.0.1").end("srvr"))).includes("Mode: leader");
}

describe("an ensemble of three", () => {
  it("keeps session and leases when its leader crashes, and grants and renews nothing when its majority does", async () => {
    await using started = new AsyncDisposableStack();
    const members = (await startEnsemble()).map((member) => started.use(member));
    const roles = await Promise.all(members.map(isLeader));
    expect(roles.filter(Boolean)).toHaveLength(1);
    const [leader, ...followers] = members.toSorted((one, other) => {
      return Number(roles[members.indexOf(other)]) - Number(roles[members.indexOf(one)]);
    });
    const url = `zookeeper://${[leader, ...followers].map((member) => `127.0.0.1:${member?.port}`).join(",")}`;
    await using store = await openAt(url, 20_000);
    const mine = claimOf("x");
    const grant = await store.acquire(mine);
    // Whichever server a rival asks, it knows of the lease.
    for (const follower of followers) {
      await using rival = await openAt(follower.url, 20_000);
      expect(await rival.acquire(claimOf("x", "b"))).toBeUndefined();
      expect((await rival.find(["x"])).get("x")).toMatchObject({ nonce: mine.nonce });
    }

    await leader?.kill();
    await expect.poll(() => store.renew([mine]).catch(() => "away"), { timeout: 18_000 }).toEqual(new Set(["x"]));
    const next = await store.acquire(claimOf("y"));
    expect(next?.storeToken).toBeGreaterThan(grant?.storeToken ?? Number.POSITIVE_INFINITY);

    // The leader of the two that are left does not know at once that it has lost the other.
    const [one, other] = followers;
    if (one !== undefined) await ((await isLeader(one)) ? other : one)?.kill();
    const away = { code: "lease_store_away", retryable: true };
    await expect(store.renew([mine])).rejects.toMatchObject(away);
    await expect(store.acquire(claimOf("z"))).rejects.toMatchObject(away);
  }, 120_000);
});

describe("openZookeeperLeases", () => {
  it("loses all leases with its session, and none that is had again under another", async () => {
    await using zookeeper = await started();
    await using proxy = await startTcpProxy({ port: zookeeper.port });
    await using store = await openAt(proxy.urlFor(zookeeper.url), 2_000);
    await using other = await openAt(zookeeper.url, 60_000);
    const mine = ["x", "y", "z"].map((name) => claimOf(name));
    for (const claim of mine) await store.acquire(claim);
    proxy.hold();
    const left = async (): Promise<string[]> => [...(await other.find(["x", "y", "z"])).keys()];
    await expect.poll(left, { interval: 100, timeout: 20_000 }).toEqual([]);
    const theirs = claimOf("x", "b");
    await other.acquire(theirs);
    proxy.resume();
    // It has a new session now, and believes in nothing of the old one.
    await expect.poll(() => store.renew(mine).catch(() => "away"), { timeout: 20_000 }).toEqual(new Set());
    await store.release(mine);
    expect((await other.find(["x"])).get("x")).toMatchObject({ holder: "b", nonce: theirs.nonce });
    expect(await store.acquire(claimOf("y"))).toBeDefined();
  });

  it("does not believe in a node of another session, although it bears the claim's name and content", async () => {
    await using zookeeper = await started();
    await using before = await openAt(zookeeper.url, 60_000);
    await using after = await openAt(zookeeper.url, 60_000);
    const mine = claimOf("x");
    await before.acquire(mine);
    expect(await after.acquire(mine)).toBeUndefined();
    expect(await after.renew([mine])).toEqual(new Set());
    await after.release([mine]);
    expect(await before.renew([mine])).toEqual(new Set(["x"]));
  });

  it("takes its session up again over another connection, with the leases that it has", async () => {
    await using zookeeper = await started();
    await using proxy = await startTcpProxy({ port: zookeeper.port });
    await using store = await openAt(proxy.urlFor(zookeeper.url), 60_000);
    const mine = claimOf("x");
    const grant = await store.acquire(mine);
    proxy.cut();
    await expect(store.renew([mine])).rejects.toMatchObject({ code: "lease_store_away", retryable: true });
    proxy.resume();
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
    expect(await store.acquire(mine)).toEqual(grant);
    expect(proxy.counts().open).toBe(1);
  });

  it("keeps session, lease and number over a restart of the server, and gives the next a larger one", async () => {
    await using zookeeper = await started();
    await using store = await openAt(zookeeper.url, 60_000);
    const mine = claimOf("x");
    const grant = await store.acquire(mine);
    await zookeeper.kill();
    await expect(store.renew([mine])).rejects.toMatchObject({ code: "lease_store_away", retryable: true });
    await using again = await startZookeeper({ settings, dir: zookeeper.dir, port: zookeeper.port });
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
    expect(await store.acquire(mine)).toEqual(grant);
    await store.release([mine]);
    const next = await store.acquire(claimOf("x", "b"));
    expect(next?.storeToken).toBeGreaterThan(grant?.storeToken ?? Number.POSITIVE_INFINITY);
    await again.stop();
  });

  it("begins anew on a server that has forgotten everything, once its old session's time is over", async () => {
    await using zookeeper = await started();
    await using store = await openAt(zookeeper.url, 2_000);
    const mine = claimOf("x");
    await store.acquire(mine);
    await zookeeper.stop();
    await using empty = await startZookeeper({ settings, port: zookeeper.port });
    await expect.poll(() => store.renew([mine]).catch(() => "away"), { timeout: 20_000 }).toEqual(new Set());
    expect(await store.acquire(claimOf("x", "b"))).toBeDefined();
    await empty.stop();
  });

  it("fails in time while the server is frozen, and has the lease afterwards", async () => {
    await using zookeeper = await started();
    await using store = await openAt(zookeeper.url, 12_000);
    const mine = claimOf("x");
    await store.acquire(mine);
    await freeze(zookeeper.pid);
    const silence = { code: "lease_store_away", message: expect.stringContaining("no answer within") };
    await expect(store.renew([mine])).rejects.toMatchObject(silence);
    process.kill(zookeeper.pid, "SIGCONT");
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
  });

  it("ends all leases although it goes on asking for other things, when none is renewed", async () => {
    await using zookeeper = await started();
    await using store = await openAt(zookeeper.url, 2_500);
    await store.acquire(claimOf("x"));
    await store.acquire(claimOf("y"));
    const left = async (): Promise<string[]> => [...(await store.find(["x", "y"])).keys()];
    await expect.poll(left, { interval: 100, timeout: 10_000 }).toEqual([]);
  });

  it("ends a lease that was made although nobody learned of it, while its session goes on", async () => {
    await using zookeeper = await started();
    await using store = await openAt(zookeeper.url, 8_000);
    await using other = await openAt(zookeeper.url, 60_000);
    const [kept, unknown] = [claimOf("kept"), claimOf("unknown")];
    await store.acquire(kept);
    await freeze(zookeeper.pid);
    await expect(store.acquire(unknown)).rejects.toMatchObject({ code: "lease_store_away" });
    process.kill(zookeeper.pid, "SIGCONT");
    const seen = async (): Promise<string[]> => [...(await other.find(["kept", "unknown"])).keys()];
    await expect.poll(seen, { interval: 20, timeout: 3_000 }).toEqual(["kept", "unknown"]);
    const seenLater = async (): Promise<string[]> => {
      expect(await store.renew([kept])).toEqual(new Set(["kept"]));
      return seen();
    };
    await expect.poll(seenLater, { interval: 100, timeout: 20_000 }).toEqual(["kept"]);
  });

  it("refuses sessions that would end before a lease, and says once when they go on for longer", async () => {
    await using zookeeper = await started({ minSessionTimeout: "6000", maxSessionTimeout: "8000" });
    await expect(openAt(zookeeper.url, 10_000)).rejects.toMatchObject({
      code: "lease_store_unfit",
      message: expect.stringContaining("sessions last 8000 ms at most, a lease 10000 ms; shorten LEASE_MS"),
    });
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
    await using store = await openZookeeperLeases({
      url: zookeeper.url,
      prefix: "nwtest_particular",
      ttlMs: 2_000,
      applicationName,
      logger,
    });
    expect(warnings).toEqual([{ servers: `127.0.0.1:${zookeeper.port}`, sessionMs: 6_000, leaseMs: 2_000 }]);
    // The lease ends in its own time all the same, while this process lives.
    await using other = await openAt(zookeeper.url, 2_000);
    const askedAtMs = performance.now();
    await store.acquire(claimOf("x"));
    await expect.poll(async () => (await other.find(["x"])).size, { interval: 50, timeout: 10_000 }).toBe(0);
    expect(performance.now() - askedAtMs).toBeLessThan(6_000);
  });

  it("keeps to its path, and to its user where there is one", async () => {
    await using zookeeper = await started();
    const url = `${zookeeper.url}/company/night`;
    await using store = await openAt(url.replace("//", "//night:s3cret%2Fp%40ss@"), 60_000);
    await using root = await openAt(zookeeper.url, 60_000);
    await store.acquire(claimOf("x"));
    expect(store.label).toBe(`zookeeper at 127.0.0.1:${zookeeper.port}/company/night`);
    expect(await root.acquire(claimOf("x", "b"))).toBeDefined();
    const stranger = await openAt(url.replace("//", "//night:other@"), 60_000);
    const fault: unknown = await stranger.acquire(claimOf("y")).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: "lease_store_unfit",
      message: expect.stringContaining("not allowed; see user"),
    });
    await stranger.close();
  });

  it("asks the next server when one refuses, and when one is silent", async () => {
    await using zookeeper = await started();
    await using proxy = await startTcpProxy({ port: zookeeper.port });
    const servers = `127.0.0.1:1,127.0.0.1:${proxy.port},127.0.0.1:${zookeeper.port}`;
    await using store = await openAt(`zookeeper://${servers}`, 9_000);
    expect(store.label).toBe(`zookeeper at ${servers}`);
    expect(proxy.counts().open).toBe(1);
    const mine = claimOf("x");
    const grant = await store.acquire(mine);
    proxy.hold();
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
    expect(await store.acquire(mine)).toEqual(grant);
    proxy.cut();
  });

  it("is away where nobody listens, or somebody who speaks otherwise", async () => {
    const away = { code: "lease_store_away", retryable: true };
    await expect(openAt("zookeeper://127.0.0.1:1")).rejects.toMatchObject(away);
    await expect(openAt("zookeeper://")).rejects.toMatchObject({ code: "lease_url_invalid" });
    const web = createServer((socket) => socket.on("error", () => undefined).end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await once(web.listen(0, "127.0.0.1"), "listening");
    const address = web.address();
    const port = typeof address === "object" ? address?.port : undefined;
    await expect(openAt(`zookeeper://127.0.0.1:${port}`)).rejects.toMatchObject(away);
    web.close();
  });
});
