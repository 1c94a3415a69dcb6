/** etcd: the contract of a store of leases, and what is particular about it. `--quick` leaves it out, so as not to need etcd. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { silentLogger } from "@nightwriter/core";
import type { LeaseStore } from "@nightwriter/lease";
import { openEtcdLeases } from "@nightwriter/lease-etcd";
import { type EtcdService, ensureServer, startEtcd, startTcpProxy } from "@nightwriter/services";
import { describe, expect, it } from "vitest";
import { describeLeaseStore, type LeaseServer } from "./contract.ts";
import { freeze } from "./freeze.ts";
import { claimOf } from "./leases-of-a-test.ts";

const applicationName = "leases of a test";

async function start(): Promise<LeaseServer> {
  await ensureServer("etcd");
  await using started = new AsyncDisposableStack();
  const etcd = started.use(await startEtcd());
  const { hold, cut, resume, urlFor } = started.use(await startTcpProxy({ port: etcd.port }));
  const running = started.move();
  return {
    open: (options) => openEtcdLeases({ ...options, url: urlFor(etcd.url), applicationName }),
    hold,
    cut,
    resume,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

describeLeaseStore("etcd", start, { storeTokens: true });

const prefix = "nwtest_particular";

async function openAt(url: string, ttlMs = 3_000): Promise<LeaseStore> {
  return openEtcdLeases({ url, prefix, ttlMs, applicationName });
}

/** A request to etcd itself, behind the store's back. */
async function ask(etcd: EtcdService, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${etcd.port}/v3/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { connection: "close" },
  });
  return (await response.json()) as Record<string, unknown>;
}

function base64(plain: string): string {
  return Buffer.from(plain).toString("base64");
}

/** Three members of one cluster, each on ports of its own. */
async function startMembers(): Promise<readonly EtcdService[]> {
  const peers = await freePorts(3);
  const cluster = peers.map((port) => `m${port}=http://127.0.0.1:${port}`).join(",");
  const members = peers.map(async (port) => {
    const peer = `http://127.0.0.1:${port}`;
    const identity = [`--name=m${port}`, `--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`];
    return startEtcd({ args: [...identity, `--initial-cluster=${cluster}`] });
  });
  return Promise.all(members);
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

async function isLeader(member: EtcdService): Promise<boolean> {
  const { header, leader } = (await ask(member, "maintenance/status", {})) as {
    readonly header: { readonly member_id: string };
    readonly leader: string;
  };
  return header.member_id === leader;
}

describe("a cluster of three", () => {
  it("keeps a lease when its leader crashes, and grants and renews nothing when its majority does", async () => {
    await using started = new AsyncDisposableStack();
    const members = (await startMembers()).map((member) => started.use(member));
    const url = `etcd://${members.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
    await using store = await openAt(url, 20_000);
    const mine = claimOf("x");
    const grant = await store.acquire(mine);
    const roles = await Promise.all(members.map(isLeader));
    const [leader, ...followers] = members.toSorted((one, other) => {
      return Number(roles[members.indexOf(other)]) - Number(roles[members.indexOf(one)]);
    });
    expect(roles.filter(Boolean)).toHaveLength(1);

    await leader?.kill();
    // While they elect another, nobody answers; the lease has more time than that.
    await expect.poll(() => store.renew([mine]).catch(() => "away"), { timeout: 15_000 }).toEqual(new Set(["x"]));
    expect(await store.acquire(claimOf("x", "b"))).toBeUndefined();
    const next = await store.acquire(claimOf("y"));
    expect(next?.storeToken).toBeGreaterThan(grant?.storeToken ?? Number.POSITIVE_INFINITY);

    await followers[0]?.kill();
    const away = { code: "lease_store_away", retryable: true };
    await expect(store.renew([mine])).rejects.toMatchObject(away);
    await expect(store.acquire(claimOf("z"))).rejects.toMatchObject(away);
  });
});

describe("openEtcdLeases", () => {
  it("keeps a lease and its number over a restart of the server, and gives the next a larger one", async () => {
    await using etcd = await startEtcd();
    await using store = await openAt(etcd.url, 60_000);
    const mine = claimOf("x");
    const grant = await store.acquire(mine);
    await etcd.kill();
    await expect(store.renew([mine])).rejects.toMatchObject({ code: "lease_store_away", retryable: true });
    await using again = await startEtcd({ dir: etcd.dir, port: etcd.port });
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
    expect(await store.acquire(mine)).toEqual(grant);
    expect(await store.acquire(claimOf("x", "b"))).toBeUndefined();
    await store.release([mine]);
    const next = await store.acquire(claimOf("x", "b"));
    expect(next?.storeToken).toBeGreaterThan(grant?.storeToken ?? Number.POSITIVE_INFINITY);
    await again.stop();
  });

  it("fails in time while the server is frozen, and has the lease afterwards", async () => {
    await using etcd = await startEtcd();
    await using store = await openAt(etcd.url, 12_000);
    const mine = claimOf("x");
    await store.acquire(mine);
    await freeze(etcd.pid);
    const silence = { code: "lease_store_away", message: expect.stringContaining("no answer within") };
    await expect(store.renew([mine])).rejects.toMatchObject(silence);
    process.kill(etcd.pid, "SIGCONT");
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
  });

  it("does not take a lease that is alive for the claim's when its key is gone or another's", async () => {
    await using etcd = await startEtcd();
    await using store = await openAt(etcd.url, 60_000);
    const [gone, other] = [claimOf("gone"), claimOf("other")];
    await store.acquire(gone);
    await store.acquire(other);
    await ask(etcd, "kv/deleterange", { key: base64(`${prefix}/lease/gone`) });
    await ask(etcd, "kv/put", { key: base64(`${prefix}/lease/other`), value: base64("an operator") });
    expect(await store.renew([gone, other])).toEqual(new Set());
    expect((await store.find(["gone", "other"])).get("other")).toEqual({
      holder: "an operator",
      nonce: "",
      leftMs: undefined,
    });
    // Ending etcd's lease does not end a key that was written without it.
    await store.release([gone, other]);
    expect(await store.acquire(claimOf("other"))).toBeUndefined();
  });

  it("leaves nothing in etcd: not of a claim that lost, nor of one that was released", async () => {
    await using etcd = await startEtcd();
    await using store = await openAt(etcd.url, 60_000);
    const mine = claimOf("x");
    const rivals = Array.from({ length: 4 }, (_, index) => claimOf("x", String(index)));
    await Promise.all([mine, ...rivals].map((claim) => store.acquire(claim)));
    await store.release([mine, ...rivals]);
    expect(await ask(etcd, "lease/leases", {})).not.toHaveProperty("leases");
    expect(await store.find(["x"])).toEqual(new Map());
  });

  it("asks the next server when one refuses, and when one is silent", async () => {
    await using etcd = await startEtcd();
    await using proxy = await startTcpProxy({ port: etcd.port });
    const servers = `127.0.0.1:1,127.0.0.1:${proxy.port},127.0.0.1:${etcd.port}`;
    await using store = await openAt(`etcd://${servers}`, 9_000);
    expect(store.label).toBe(`etcd at ${servers}`);
    expect(proxy.counts().accepted).toBeGreaterThan(0);
    const mine = claimOf("x");
    expect(await store.acquire(mine)).toBeDefined();
    proxy.hold();
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
    proxy.cut();
  });

  it("says once that the server keeps leases longer than asked", async () => {
    await using etcd = await startEtcd({ args: ["--heartbeat-interval=400", "--election-timeout=4000"] });
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
    await using store = await openEtcdLeases({ url: etcd.url, prefix, ttlMs: 2_500, applicationName, logger });
    await store.acquire(claimOf("x"));
    await store.acquire(claimOf("y"));
    expect(store.ttlMs).toBe(2_500);
    expect(warnings).toEqual([{ askedSeconds: 3, keptSeconds: 6 }]);
  });

  it("logs in with user and password, again when its token has ended, and tells a wrong one from a server that is away", async () => {
    await using etcd = await startEtcd();
    await ask(etcd, "auth/user/add", { name: "root", password: "s3cret/p@ss" });
    await ask(etcd, "auth/role/add", { name: "root" });
    await ask(etcd, "auth/user/grant", { user: "root", role: "root" });
    const before = await openAt(etcd.url);
    await ask(etcd, "auth/enable", {});
    const unfit = { name: "LeaseFault", code: "lease_store_unfit", retryable: false };
    await expect(before.renew([claimOf("x")])).rejects.toMatchObject(unfit);
    await before.close();
    await expect(openAt(etcd.url)).rejects.toMatchObject(unfit);
    const wrong: unknown = await openAt(etcd.url.replace("//", "//root:not-it@")).catch((error: unknown) => error);
    expect(wrong).toMatchObject({ ...unfit, message: expect.stringContaining("see user and password of LEASE_URL") });
    expect(String(wrong)).not.toContain("not-it");

    await using store = await openAt(etcd.url.replace("//", "//root:s3cret%2Fp%40ss@"), 60_000);
    const mine = claimOf("x");
    expect(await store.acquire(mine)).toBeDefined();
    // Tokens live in the server's memory.
    await etcd.kill();
    await using again = await startEtcd({ dir: etcd.dir, port: etcd.port });
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
    await store.release([mine]);
    expect(await store.find(["x"])).toEqual(new Map());
    await again.stop();
  });

  it("refuses a password where the server asks for none, and what is no etcd at all", async () => {
    await using etcd = await startEtcd();
    await expect(openAt(etcd.url.replace("//", "//night:watch@"))).rejects.toMatchObject({
      code: "lease_store_unfit",
      message: expect.stringContaining("authentication is not enabled"),
    });
    await using withoutGateway = await startEtcd({ args: ["--enable-grpc-gateway=false"] });
    await expect(openAt(withoutGateway.url)).rejects.toMatchObject({
      code: "lease_store_unfit",
      message: expect.stringContaining("needs etcd 3.4 or newer"),
    });
    await expect(openAt("etcd://127.0.0.1:1")).rejects.toMatchObject({ code: "lease_store_away", retryable: true });
    await expect(openAt("etcd://")).rejects.toMatchObject({ code: "lease_url_invalid" });
  });
});
