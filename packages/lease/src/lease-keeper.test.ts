import { type Clock, type Logger, silentLogger } from "@nightwriter/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLeaseKeeper, type LeaseKeeper, type LeaseKeeperOptions } from "./lease-keeper.ts";
import { type LeaseClaim, LeaseFault, type LeaseSight, type LeaseStore } from "./lease-store.ts";

const ttlMs = 10_000;
const marginMs = 1_000;
/** The keeper's own step: what it notices, it notices so much later at most. */
const stepMs = ttlMs / 20;

/** Monotonic time goes on with the faked timers, and without them while the process is frozen or its loop blocked. */
class TestClock implements Clock {
  frozenMs = 0;
  wall: Temporal.Instant = Temporal.Instant.from("2026-03-01T00:00:00Z");

  monotonicMs(): number {
    return Date.now() + this.frozenMs;
  }

  now(): Temporal.Instant {
    return this.wall;
  }
}

type Call = {
  readonly what: "acquire" | "find" | "release" | "renew";
  readonly claims: readonly LeaseClaim[];
  readonly atMs: number;
};

/** One server's leases, in memory, without expiry: only the keeper is under test here. Each call can be made to wait or to fail. */
class TestStore implements LeaseStore {
  readonly kind = "postgres";
  readonly label = "a test's store";
  readonly ttlMs: number = ttlMs;
  readonly claimSlot = { label: "a test's store", read: async () => undefined, replace: async () => undefined };
  readonly calls: Call[] = [];
  readonly holdings = new Map<string, LeaseClaim>();
  latencyMs = 0;
  fault: Error | undefined;

  async acquire(claim: LeaseClaim): Promise<{ storeToken: undefined } | undefined> {
    return this.#answer("acquire", [claim], () => {
      const holding = this.holdings.get(claim.name) ?? claim;
      if (holding.nonce !== claim.nonce) return undefined;
      this.holdings.set(claim.name, claim);
      return { storeToken: undefined };
    });
  }

  async renew(claims: readonly LeaseClaim[]): Promise<Set<string>> {
    const mine = (claim: LeaseClaim): boolean => this.holdings.get(claim.name)?.nonce === claim.nonce;
    return this.#answer("renew", claims, () => new Set(claims.filter(mine).map(({ name }) => name)));
  }

  async release(claims: readonly LeaseClaim[]): Promise<void> {
    return this.#answer("release", claims, () => {
      for (const { name, nonce } of claims) if (this.holdings.get(name)?.nonce === nonce) this.holdings.delete(name);
    });
  }

  async find(): Promise<Map<string, LeaseSight>> {
    return this.#answer("find", [], () => new Map());
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}

  of(what: Call["what"]): Call[] {
    return this.calls.filter((call) => call.what === what);
  }

  async #answer<Answer>(what: Call["what"], claims: readonly LeaseClaim[], answer: () => Answer): Promise<Answer> {
    this.calls.push({ what, claims, atMs: clock.monotonicMs() });
    const { fault } = this;
    if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
    if (fault !== undefined) throw fault;
    return answer();
  }
}

const away = new LeaseFault("lease_store_away", "a test's store: away; asked again until it answers", {
  retryable: true,
});

let clock: TestClock;
let store: TestStore;
let said: string[];
let keeper: LeaseKeeper;

function keep(options: Partial<LeaseKeeperOptions> = {}): LeaseKeeper {
  const say = (_fields: object, message = ""): void => void said.push(message);
  const logger: Logger = { ...silentLogger, info: say, warn: say, error: say };
  keeper = createLeaseKeeper({ store, holder: "a", marginMs, clock, random: () => 0.5, logger, ...options });
  return keeper;
}

async function held(name: string): Promise<NonNullable<Awaited<ReturnType<LeaseKeeper["acquire"]>>>> {
  const lease = await keeper.acquire(name);
  if (lease === undefined) throw new Error(`${name} was not granted`);
  return lease;
}

const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));

async function renewalUnderWay(): Promise<void> {
  while (store.of("renew").length === 0) await pass(1);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  clock = new TestClock();
  store = new TestStore();
  said = [];
});

afterEach(async () => {
  store.fault = undefined;
  store.latencyMs = 0;
  const stopping = keeper.stop();
  await pass(ttlMs);
  await stopping;
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe("LeaseKeeper.acquire", () => {
  it("trusts a lease from before the request, less the margin", async () => {
    keep();
    store.latencyMs = 700;
    const acquiring = held("x");
    await pass(700);
    expect((await acquiring).leftMs()).toBe(ttlMs - marginMs - 700);
  });

  it("returns undefined for what somebody else has, and draws another nonce for each try that was answered", async () => {
    keep();
    store.holdings.set("x", { name: "x", holder: "b", nonce: "b1" });
    expect([await keeper.acquire("x"), await keeper.acquire("x")]).toEqual([undefined, undefined]);
    expect(new Set(store.of("acquire").map(({ claims }) => claims[0]?.nonce)).size).toBe(2);
  });

  it("tries again with the same nonce when the answer was lost", async () => {
    keep();
    store.fault = away;
    await expect(keeper.acquire("x")).rejects.toBe(away);
    store.fault = undefined;
    const lease = await held("x");
    expect(store.of("acquire").map(({ claims }) => claims[0]?.nonce)).toEqual([lease.nonce, lease.nonce]);
  });

  it("gives back a grant that comes too late to be trusted", async () => {
    keep();
    store.latencyMs = 1;
    const acquiring = keeper.acquire("x");
    clock.frozenMs = ttlMs;
    await pass(3);
    expect(await acquiring).toBeUndefined();
    expect(store.holdings.size).toBe(0);
  });
});

describe("LeaseKeeper", () => {
  it("renews all leases in one request, a third of their length after the last or up to a fifth sooner", async () => {
    for (const random of [0, 0.999]) {
      store = new TestStore();
      keep({ random: () => random });
      const leases = [await held("x"), await held("y")];
      await pass(5 * ttlMs);
      const renewals = store.of("renew");
      expect(renewals.every(({ claims }) => claims.length === 2)).toBe(true);
      const gaps = renewals.slice(1).map(({ atMs }, index) => atMs - (renewals[index]?.atMs ?? 0));
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual((ttlMs / 3) * (0.8 + 0.2 * random));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(ttlMs / 3 + 1);
      expect(leases.every(({ lost }) => !lost.aborted)).toBe(true);
      await keeper.stop();
    }
  });

  it("counts trust in a renewed lease from before the request that renewed it", async () => {
    keep();
    const lease = await held("x");
    store.latencyMs = 3_000;
    await renewalUnderWay();
    const left = lease.leftMs();
    await pass(2_900);
    expect(lease.leftMs()).toBe(left - 2_900);
    await pass(100);
    expect(lease.leftMs()).toBeGreaterThanOrEqual(ttlMs - marginMs - 3_000 - 1);
  });

  it("keeps a lease through one request that hangs for a third of its length", async () => {
    keep();
    const lease = await held("x");
    store.latencyMs = ttlMs / 3;
    store.fault = away;
    await renewalUnderWay();
    store.fault = undefined;
    store.latencyMs = 50;
    await pass(2 * ttlMs);
    expect(lease.lost.aborted).toBe(false);
  });

  it("ends trust before the lease can end when the store stays away, and says so once", async () => {
    keep();
    const [x, y] = [await held("x"), await held("y")];
    const askedAtMs = clock.monotonicMs();
    store.fault = away;
    const lostAtMs: number[] = [];
    for (const { lost } of [x, y]) lost.addEventListener("abort", () => lostAtMs.push(clock.monotonicMs() - askedAtMs));
    await pass(3 * ttlMs);
    expect(lostAtMs).toEqual([ttlMs - marginMs, ttlMs - marginMs]);
    expect([x.leftMs(), y.lost.reason]).toEqual([Number.NEGATIVE_INFINITY, "it was not renewed in time"]);
    expect(keeper.answeredAgoMs()).toBeGreaterThan(2 * ttlMs);
    store.fault = undefined;
    await pass(stepMs);
    expect(said).toEqual(["lease store away", "lease lost", "lease lost", "lease store back"]);
    expect(await keeper.acquire("z")).toBeDefined();
  });

  it("loses what the store does not know as its own any more, and keeps the others", async () => {
    keep();
    const [x, y] = [await held("x"), await held("y")];
    store.holdings.set("x", { ...x, nonce: "another term of the same holder" });
    await pass(ttlMs / 3 + stepMs);
    expect([x.lost.aborted, y.lost.aborted]).toEqual([true, false]);
    expect(x.lost.reason).toBe("the store gave it to somebody else or forgot it");
  });

  it("knows after a freeze that a lease is over, before any timer could fire, and does not renew it", async () => {
    keep();
    const lease = await held("x");
    clock.frozenMs = 1.5 * ttlMs;
    expect(lease.leftMs()).toBeLessThan(0);
    await pass(stepMs);
    expect(lease.lost.aborted).toBe(true);
    expect(store.of("renew")).toEqual([]);
  });

  it("does not believe a renewal that was asked for before a freeze and answered after it", async () => {
    keep();
    const lease = await held("x");
    store.latencyMs = 10;
    await renewalUnderWay();
    clock.frozenMs = 1.5 * ttlMs;
    await pass(10);
    expect(lease.leftMs()).toBeLessThan(0);
  });

  it("takes an event loop that is late by more than the margin for a reason not to renew", async () => {
    keep();
    await held("x");
    await pass(ttlMs / 3 - 2 * stepMs);
    const before = store.of("renew").length;
    clock.frozenMs = marginMs + 2 * stepMs;
    await pass(stepMs);
    expect(store.of("renew")).toHaveLength(before);
    expect(said).toEqual(["not renewing"]);
    await pass(stepMs);
    expect(store.of("renew")).toHaveLength(before + 1);
    expect(said).toEqual(["not renewing", "renewing again"]);
  });

  it("does not take the lateness of every timer for a reason, however small the margin", async () => {
    keep({ marginMs: 0 });
    const lease = await held("x");
    for (let count = 0; count < 60; count++) {
      clock.frozenMs += 10;
      await pass(stepMs);
    }
    expect(lease.lost.aborted).toBe(false);
    expect(said).toEqual([]);
  });

  it("renews nothing and takes nothing while there is an obstacle, and says why once", async () => {
    let obstacle: string | undefined;
    keep({ obstacle: () => obstacle });
    const lease = await held("x");
    obstacle = "the database hangs";
    await pass(ttlMs);
    expect(store.of("renew")).toEqual([]);
    expect(lease.lost.aborted).toBe(true);
    expect(await keeper.acquire("y")).toBeUndefined();
    obstacle = undefined;
    await pass(stepMs);
    expect(said).toEqual(["not renewing", "lease lost", "renewing again"]);
    expect(await keeper.acquire("y")).toBeDefined();
  });

  it("is not moved by a wall clock that jumps", async () => {
    keep();
    const lease = await held("x");
    for (const hours of [24, -48, 24]) {
      clock.wall = clock.wall.add({ hours });
      await pass(ttlMs / 4);
      expect(lease.leftMs()).toBeGreaterThan(ttlMs / 3);
      expect(lease.lost.aborted).toBe(false);
    }
  });

  it("asks the store a third of a lease's length after the last time also when nothing is held", async () => {
    keep();
    expect(keeper.answeredAgoMs()).toBe(Number.POSITIVE_INFINITY);
    for (let step = 0; step < 60; step++) {
      await pass(stepMs / 2);
      expect(keeper.answeredAgoMs()).toBeLessThan(ttlMs / 2);
    }
    expect(store.of("find").length).toBeGreaterThan(3);
  });
});

describe("LeaseKeeper.release", () => {
  it("gives back exactly this lease, without telling that it was lost, and renews it no more", async () => {
    keep();
    const [x, y] = [await held("x"), await held("y")];
    await keeper.release(x);
    expect([...store.holdings.keys()]).toEqual(["y"]);
    await pass(2 * ttlMs);
    expect(x.lost.aborted).toBe(false);
    expect(y.lost.aborted).toBe(false);
    expect(store.of("renew").every(({ claims }) => claims.length === 1)).toBe(true);
  });

  it("leaves a later term of the same lease alone", async () => {
    keep();
    const first = await held("x");
    await keeper.release(first);
    const second = await held("x");
    await keeper.release(first);
    await pass(ttlMs);
    expect(second.lost.aborted).toBe(false);
  });

  it("does not throw when the store is away, and lets a bug through", async () => {
    keep();
    const lease = await held("x");
    store.fault = away;
    await expect(keeper.release(lease)).resolves.toBeUndefined();
    store.fault = new TypeError("a bug");
    await expect(keeper.release(lease)).rejects.toThrow(TypeError);
  });
});

describe("LeaseKeeper.stop", () => {
  it("gives back all that is held in one request, and what is being granted meanwhile", async () => {
    keep();
    await held("x");
    await held("y");
    store.latencyMs = 100;
    const acquiring = keeper.acquire("z");
    const stopping = keeper.stop();
    await pass(500);
    await stopping;
    expect(await acquiring).toBeUndefined();
    expect(store.holdings.size).toBe(0);
    expect(store.of("release").map(({ claims }) => claims.length)).toEqual([1, 2]);
    expect(await keeper.acquire("x")).toBeUndefined();
  });

  it("gives back what may have been granted without an answer", async () => {
    keep();
    store.fault = away;
    await expect(keeper.acquire("x")).rejects.toThrow(LeaseFault);
    store.fault = undefined;
    await keeper.stop();
    expect(store.of("release").map(({ claims }) => claims[0]?.name)).toEqual(["x"]);
  });
});
