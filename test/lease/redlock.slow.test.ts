import { join } from "node:path";
import { type LeaseStore } from "@nightwriter/lease";
import { openRedlock } from "@nightwriter/lease-redis";
import { type RedisService, startGuarded, startRedis, startTcpProxy, type TcpProxy } from "@nightwriter/services";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { describeLeaseStore, type LeaseServer } from "./contract.ts";
import { claimOf, faultOf, optionsOfATest } from "./leases-of-a-test.ts";

const soon = { timeout: 20_000, interval: 50 };

interface Voters extends AsyncDisposable {
  readonly url: string;
  readonly servers: readonly RedisService[];
  readonly proxies: readonly TcpProxy[];
}

async function startVoters(count: number): Promise<Voters> {
  await using started = new AsyncDisposableStack();
  const password = "one-for-all";
  const servers: RedisService[] = [];
  const proxies: TcpProxy[] = [];
  for (let index = 0; index < count; index++) {
    const server = started.use(await startRedis({ password }));
    servers.push(server);
    proxies.push(started.use(await startTcpProxy({ port: server.port })));
  }
  const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(",");
  const running = started.move();
  return {
    url: `redis+redlock://default:${password}@${hosts}`,
    servers,
    proxies,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function start(count: number): Promise<LeaseServer> {
  const voters = await startVoters(count);
  const all = (act: (proxy: TcpProxy) => void) => () => voters.proxies.forEach(act);
  return {
    open: (options) => open({ ...options, url: voters.url }),
    hold: all((proxy) => proxy.hold()),
    cut: all((proxy) => proxy.cut()),
    resume: all((proxy) => proxy.resume()),
    [Symbol.asyncDispose]: () => voters[Symbol.asyncDispose](),
  };
}

for (const count of [3, 5]) describeLeaseStore(`Redlock over ${count}`, () => start(count));

async function open(options: { url: string; prefix?: string; ttlMs?: number }): Promise<LeaseStore> {
  return openRedlock({ ...optionsOfATest, ...options });
}

/** On how many servers the lease is. */
async function copies({ servers }: Voters, name: string): Promise<number> {
  const found = await Promise.all(servers.map((server) => server.ask("exists", `test:lease:${name}`)));
  return found.filter((answer) => answer === "1").length;
}

describe("Redlock over five servers", () => {
  let voters: Voters;
  beforeAll(async () => {
    voters = await startVoters(5);
  }, 120_000);
  afterEach(async () => {
    for (const proxy of voters.proxies) proxy.resume();
    for (const server of voters.servers) await server.ask("flushall");
  });
  afterAll(async () => voters[Symbol.asyncDispose]());

  it.each([
    [1, "cut"],
    [2, "cut"],
    [1, "hold"],
    [2, "hold"],
  ] as const)("works with %i away (%s)", async (away, trouble) => {
    await using store = await open({ url: voters.url, ttlMs: 9_000 });
    const [held, later] = [claimOf("held"), claimOf("later")];
    await store.acquire(held);
    for (const proxy of voters.proxies.slice(0, away)) proxy[trouble]();
    expect(await store.renew([held])).toEqual(new Set(["held"]));
    expect(await store.acquire(later)).toBeDefined();
    expect([...(await store.find(["held", "later"])).keys()]).toEqual(["held", "later"]);
    await store.release([held, later]);
    for (const proxy of voters.proxies) proxy.resume();
    expect((await store.find(["held", "later"])).size).toBe(0);
  });

  it("is away with three away, takes nothing then, and is back when they are", async () => {
    await using store = await open({ url: voters.url, ttlMs: 9_000 });
    const held = claimOf("held");
    await store.acquire(held);
    for (const proxy of voters.proxies.slice(0, 3)) proxy.cut();
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.acquire(claimOf("x")),
      () => store.renew([held]),
      () => store.find(["held"]),
      () => store.release([claimOf("y")]),
    ];
    for (const call of calls) {
      const fault = await faultOf(call());
      expect(fault).toMatchObject({ code: "lease_store_away", retryable: true, details: { away: 3, servers: 5 } });
      expect(fault.message).toContain("3 of 5 are away");
      expect(fault.message).not.toContain("one-for-all");
    }
    expect(await copies(voters, "x")).toBe(0);
    for (const proxy of voters.proxies) proxy.resume();
    await expect.poll(() => store.renew([held]).catch(() => "away"), soon).toEqual(new Set(["held"]));
  });

  it("gives back at once what it took on fewer than a majority", async () => {
    await using store = await open({ url: voters.url });
    for (const server of voters.servers.slice(0, 3)) await server.ask("set", "test:lease:x", "somebody", "px", "60000");
    expect(await store.acquire(claimOf("x"))).toBeUndefined();
    expect(await copies(voters, "x")).toBe(3);
  });

  it("gives a server that has forgotten the lease its vote again, and none to one where somebody else has it", async () => {
    await using store = await open({ url: voters.url });
    const mine = claimOf("x");
    await store.acquire(mine);
    const [forgetful, foreign, ...others] = voters.servers;
    await forgetful?.ask("flushall");
    await foreign?.ask("set", "test:lease:x", "somebody", "px", "60000");
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
    for (const server of [forgetful, ...others]) expect(await server?.ask("get", "test:lease:x")).toContain(mine.nonce);
    expect(await foreign?.ask("get", "test:lease:x")).toContain("somebody");
    // With a majority gone it is not held, and not taken again either.
    for (const server of others) await server.ask("flushall");
    expect(await store.renew([mine])).toEqual(new Set());
    expect(await copies(voters, "x")).toBe(2);
  });

  it("has two holders when one was paused between looking at its lease and acting on it", async () => {
    await using paused = await startGuarded({
      file: process.execPath,
      args: [join(import.meta.dirname, "programs", "paused-holder.ts"), voters.url],
      keepInput: true,
      log: (line) => lines.push(line),
    });
    const lines: string[] = [];
    await expect.poll(() => lines, soon).toContain("holds the lease, and looks: it is mine");
    paused.signal("SIGSTOP");
    await using rival = await open({ url: voters.url });
    const theirs = claimOf("x", "rival");
    await expect.poll(() => rival.acquire(theirs).then((grant) => grant !== undefined), soon).toBe(true);
    paused.write("go on\n");
    paused.signal("SIGCONT");
    await expect.poll(() => lines, soon).toContain("acts");
    // At the moment of that act the lease was the rival's, and still is.
    expect(await rival.renew([theirs])).toEqual(new Set(["x"]));
    await expect.poll(() => lines, soon).toContain("sees that its lease is over");
  });
});

describe("Redlock over three servers", () => {
  it("promises what is left of a key's life after the drift of clocks", async () => {
    await using voters = await startVoters(3);
    await using store = await open({ url: voters.url, ttlMs: 10_000 });
    expect(store.ttlMs).toBe(10_000 - 100 - 2);
    const askedAtMs = performance.now();
    await store.acquire(claimOf("x"));
    for (const server of voters.servers) {
      const leftMs = Number(await server.ask("pttl", "test:lease:x"));
      expect(leftMs).toBeGreaterThan(10_000 - (performance.now() - askedAtMs) - 10);
      expect(leftMs).toBeLessThanOrEqual(10_000);
    }
  });

  it("starts with a minority away and not with a majority away, and takes in who comes later", async () => {
    await using voters = await startVoters(3);
    const [first, second] = voters.proxies;
    first?.cut();
    await using store = await open({ url: voters.url, ttlMs: 9_000 });
    second?.cut();
    expect((await faultOf(open({ url: voters.url }))).code).toBe("lease_store_away");
    first?.resume();
    await expect
      .poll(
        () =>
          store.acquire(claimOf("x")).then(
            (grant) => grant !== undefined,
            () => false,
          ),
        soon,
      )
      .toBe(true);
  });

  it("refuses a server among them that may evict keys", async () => {
    await using voters = await startVoters(3);
    await voters.servers[2]?.ask("config", "set", "maxmemory-policy", "allkeys-lfu");
    expect(await faultOf(open({ url: voters.url }))).toMatchObject({ code: "lease_store_unfit" });
  });
});
