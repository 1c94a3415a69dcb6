/**
 * What every store of leases must do, held to on a real server.
 *
 * To join: a file `<store>.test.ts` in this folder that calls `describeLeaseStore(name, start, options)`, once for each form in
 * which the store runs. `start` starts or reaches the servers, once for the suite, and says how to open the store on them
 * and how to make them silent and gone: mostly by a `startTcpProxy` in front of each. Where servers refer clients past it
 * (Sentinel, Cluster), `hold` is SIGSTOP and `resume` SIGCONT for the servers; `cut` may then be whatever makes connections
 * fail at once. `postgres.slow.test.ts` is the shortest example.
 *
 * Each test takes a prefix of its own and leaves its leases there: whoever starts a server ends it, whoever shares one removes
 * what begins with `nwtest_`.
 */
import { randomBytes } from "node:crypto";
import { type LeaseClaim, LeaseFault, type LeaseStore } from "@nightwriter/lease";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdClaimSlot } from "../installation/claim-slot-contract.ts";
import { contend } from "./contenders.ts";
import { claimOf } from "./leases-of-a-test.ts";

/** The servers of a store. `hold` and `cut` last until `resume`; each acts on all servers, and on those that connect later too. */
export interface LeaseServer extends AsyncDisposable {
  /** Opens the store as one process does. */
  readonly open: (options: { readonly prefix: string; readonly ttlMs: number }) => Promise<LeaseStore>;
  /** Accepted, then silence. */
  readonly hold: () => Promise<void> | void;
  /** No connection any more, and none to be had. */
  readonly cut: () => Promise<void> | void;
  readonly resume: () => Promise<void> | void;
}

export interface LeaseStoreTraits {
  /** Whether it has a number that grows with each holding. Default: false. */
  readonly storeTokens?: boolean;
  /** The shortest lease that it is good for: what is waited for in tests of expiry. Default: 4,500. */
  readonly shortMs?: number;
  /** How much later than its length a lease may run out at the latest, when nobody renewed it. Default: 2,000. */
  readonly expiresLateMs?: number;
}

/** A lease's length in tests that do not wait for its end. */
const longMs = 60_000;
/** A lease's length where calls are to end within a third of it, and what a loaded machine may add. */
const answerIn = { ttlMs: 9_000, thirdMs: 3_000, machineMs: 2_000 };

type Open = (options?: { readonly prefix?: string; readonly ttlMs?: number }) => Promise<LeaseStore>;
type Suite = { readonly server: () => LeaseServer; readonly open: Open; readonly traits: Required<LeaseStoreTraits> };

/** Holds a store to its port. */
export function describeLeaseStore(
  name: string,
  start: () => Promise<LeaseServer>,
  traits: LeaseStoreTraits = {},
): void {
  describe(`leases in ${name}`, () => {
    let running: LeaseServer | undefined;
    beforeAll(async () => {
      running = await start();
    }, 240_000);
    afterAll(async () => {
      await running?.[Symbol.asyncDispose]();
    }, 60_000);
    const server = (): LeaseServer => {
      if (running === undefined) throw new Error(`${name} was not started`);
      return running;
    };
    const open: Open = async ({ prefix = freshPrefix(), ttlMs = longMs } = {}) => server().open({ prefix, ttlMs });
    const suite: Suite = {
      server,
      open,
      traits: { storeTokens: false, shortMs: 4_500, expiresLateMs: 2_000, ...traits },
    };
    describe("acquire", () => {
      acquiring(suite);
    });
    describe("the store's own token", () => {
      numbering(suite);
    });
    describe("renew", () => {
      renewing(suite);
    });
    describe("release", () => {
      releasing(suite);
    });
    describe("find", () => {
      finding(suite);
    });
    describe("the claim of an installation", () => {
      holdClaimSlot(async (prefix) => {
        const store = await open({ prefix });
        return { slot: store.claimSlot, [Symbol.asyncDispose]: () => store.close() };
      });
    });
    describe("expiry", () => {
      expiring(suite);
    });
    describe("a server that is away", () => {
      answering(suite);
    });
    describe("eight contenders", () => {
      contending(suite);
    });
  });
}

function freshPrefix(): string {
  return `nwtest_${randomBytes(6).toString("hex")}`;
}

async function take(store: LeaseStore, claim: LeaseClaim): Promise<bigint | undefined> {
  const grant = await store.acquire(claim);
  expect(grant, `${claim.name} for ${claim.holder}`).toBeDefined();
  return grant?.storeToken;
}

function acquiring({ open }: Suite): void {
  it("grants what nobody has, and refuses it to another process, on whatever connection", async () => {
    await using a = await open();
    const prefix = freshPrefix();
    await using b = await open({ prefix });
    await using c = await open({ prefix });
    await take(b, claimOf("jobs/7"));
    expect(await b.acquire(claimOf("jobs/7", "b"))).toBeUndefined();
    expect(await c.acquire(claimOf("jobs/7", "b"))).toBeUndefined();
    await take(c, claimOf("jobs/8", "b"));
    // Another prefix is another installation.
    await take(a, claimOf("jobs/7", "c"));
  });

  it("goes by holder and nonce together: refused to another term of the same holder, and to another holder of the same nonce", async () => {
    await using store = await open();
    const mine = claimOf("x");
    await take(store, mine);
    expect(await store.acquire(claimOf("x"))).toBeUndefined();
    expect(await store.acquire({ ...mine, holder: "b" })).toBeUndefined();
  });

  it("grants a claim again that has the lease already, as the same holding and for the whole length", async () => {
    await using store = await open();
    const mine = claimOf("x");
    const token = await take(store, mine);
    expect(await take(store, mine)).toBe(token);
    expect(await store.renew([mine])).toEqual(new Set(["x"]));
    expect(await store.acquire(claimOf("x", "b"))).toBeUndefined();
  });

  it("grants to exactly one of eight that ask at once", async () => {
    const prefix = freshPrefix();
    await using opened = new AsyncDisposableStack();
    const stores: LeaseStore[] = [];
    for (let count = 0; count < 8; count++) stores.push(opened.use(await open({ prefix })));
    for (const name of ["x", "y", "z"]) {
      const grants = await Promise.all(stores.map((store, index) => store.acquire(claimOf(name, String(index)))));
      expect(grants.filter((grant) => grant !== undefined)).toHaveLength(1);
    }
  });

  it("takes every name that the port allows", async () => {
    await using store = await open();
    const ascii = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join("");
    for (const name of [ascii, "n".repeat(200), "jobs/1", "jobs/10", "jobs", "{a}/*"]) {
      const mine = claimOf(name, "host.example-1_2");
      await take(store, mine);
      expect(await store.renew([mine])).toEqual(new Set([name]));
      expect([...(await store.find([name])).keys()]).toEqual([name]);
    }
  });
}

function numbering({ open, traits }: Suite): void {
  it("is larger at each holding of the lease and the same within one, or there is none at all", async () => {
    await using store = await open();
    const tokens: (bigint | undefined)[] = [];
    for (let term = 0; term < 12; term++) {
      const mine = claimOf("x", String(term % 2));
      tokens.push(await take(store, mine));
      expect(await take(store, mine)).toBe(tokens.at(-1));
      await store.release([mine]);
    }
    const numbers = tokens.filter((token) => token !== undefined);
    expect(numbers).toHaveLength(traits.storeTokens ? tokens.length : 0);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => (one < other ? -1 : 1)));
  });
}

function renewing({ open }: Suite): void {
  it("names those that are exactly the claims', and no others, of many at once", async () => {
    await using store = await open();
    const kept = Array.from({ length: 64 }, (_, index) => claimOf(`jobs/${index}`));
    for (const claim of kept) await take(store, claim);
    const [anotherTerm, taken, never, ended] = [claimOf("term"), claimOf("taken"), claimOf("never"), claimOf("ended")];
    await take(store, claimOf("term"));
    await take(store, { ...taken, holder: "b" });
    await take(store, ended);
    await store.release([ended]);
    const renewed = await store.renew([...kept, anotherTerm, taken, never, ended]);
    expect(renewed).toEqual(new Set(kept.map(({ name }) => name)));
    // What it did not renew, it did not take either.
    expect([...(await store.find(["never", "ended"])).keys()]).toEqual([]);
    await take(store, claimOf("never", "b"));
  });

  it("renews nothing where there is nothing", async () => {
    await using store = await open();
    expect(await store.renew([])).toEqual(new Set());
  });
}

function releasing({ open }: Suite): void {
  it("frees exactly the claims' leases, and others have them at once", async () => {
    await using store = await open();
    const [x, y, z] = [claimOf("x"), claimOf("y"), claimOf("z")];
    for (const claim of [x, y, z]) await take(store, claim);
    await store.release([x, y]);
    await take(store, claimOf("x", "b"));
    await take(store, claimOf("y", "b"));
    expect(await store.acquire(claimOf("z", "b"))).toBeUndefined();
  });

  it("does nothing to a lease of another term, another holder or nobody, among others that are the claims'", async () => {
    await using store = await open();
    const [mine, theirs, later] = [claimOf("mine"), claimOf("theirs", "b"), claimOf("later")];
    for (const claim of [mine, theirs, later]) await take(store, claim);
    await store.release([claimOf("later"), { ...theirs, holder: "a" }, claimOf("nobody's"), mine]);
    expect(await store.renew([mine, theirs, later])).toEqual(new Set(["theirs", "later"]));
    await store.release([mine]);
    await store.release([]);
    expect([...(await store.find(["mine", "theirs", "later"])).keys()].toSorted()).toEqual(["later", "theirs"]);
  });
}

function finding({ open }: Suite): void {
  it("tells who has a lease under which nonce and for how long, in this prefix, and leaves out what nobody has", async () => {
    const prefix = freshPrefix();
    await using store = await open({ prefix });
    await using other = await open({ prefix: `${prefix}2` });
    await using later = await open({ prefix });
    const [mine, theirs] = [claimOf("x"), claimOf("y", "b")];
    await take(store, mine);
    await take(store, theirs);
    await take(other, claimOf("z", "c"));
    const seen = await later.find(["x", "y", "z", "nobody's"]);
    expect([...seen.keys()].toSorted()).toEqual(["x", "y"]);
    for (const claim of [mine, theirs]) {
      const { holder, nonce, leftMs } = seen.get(claim.name) ?? {};
      expect({ holder, nonce }).toEqual({ holder: claim.holder, nonce: claim.nonce });
      // A store that cannot say leaves it out.
      expect(leftMs ?? longMs).toBeLessThanOrEqual(longMs);
      expect(leftMs ?? longMs).toBeGreaterThan(longMs / 2);
    }
    expect(await later.find([])).toEqual(new Map());
  });
}

function expiring({ open, traits: { shortMs, expiresLateMs } }: Suite): void {
  it("lets nobody have a lease before it has run out, and somebody soon after, the late holder's renewal included", async () => {
    const prefix = freshPrefix();
    await using holder = await open({ prefix, ttlMs: shortMs });
    await using rival = await open({ prefix, ttlMs: shortMs });
    const [mine, theirs] = [claimOf("x"), claimOf("x", "b")];
    const askedAtMs = performance.now();
    await take(holder, mine);
    await expect
      .poll(() => rival.acquire(theirs), { interval: 50, timeout: shortMs + expiresLateMs + answerIn.machineMs })
      .toBeDefined();
    // The holder's trust, without any margin: the rival was granted it after that.
    expect(performance.now() - askedAtMs).toBeGreaterThanOrEqual(shortMs);
    expect(await holder.renew([mine])).toEqual(new Set());
    expect(await holder.acquire(mine)).toBeUndefined();
    await holder.release([mine]);
    expect(await rival.renew([theirs])).toEqual(new Set(["x"]));
  }, 60_000);

  it("does not renew what has run out, though nobody has taken it since", async () => {
    await using store = await open({ ttlMs: shortMs });
    const mine = claimOf("x");
    await take(store, mine);
    await expect
      .poll(async () => (await store.find(["x"])).size, {
        interval: 50,
        timeout: shortMs + expiresLateMs + answerIn.machineMs,
      })
      .toBe(0);
    expect(await store.renew([mine])).toEqual(new Set());
    await take(store, claimOf("x", "b"));
  }, 60_000);

  it("ends one lease while the others of the same process are renewed", async () => {
    await using store = await open({ ttlMs: shortMs });
    const [kept, left] = [claimOf("kept"), claimOf("left")];
    await take(store, kept);
    await take(store, left);
    const names = async (): Promise<string[]> => {
      expect(await store.renew([kept])).toEqual(new Set(["kept"]));
      return [...(await store.find(["kept", "left"])).keys()];
    };
    await expect
      .poll(names, { interval: shortMs / 10, timeout: shortMs + expiresLateMs + answerIn.machineMs })
      .toEqual(["kept"]);
    expect(await store.renew([kept, left])).toEqual(new Set(["kept"]));
  }, 60_000);

  it("keeps what is renewed beyond its first length, by a renewal as by acquiring it again", async () => {
    const prefix = freshPrefix();
    await using holder = await open({ prefix, ttlMs: shortMs });
    await using rival = await open({ prefix, ttlMs: shortMs });
    const [x, y] = [claimOf("x"), claimOf("y")];
    await take(holder, x);
    await take(holder, y);
    const askedAtMs = performance.now();
    while (performance.now() - askedAtMs < 2 * shortMs) {
      await new Promise((resolve) => setTimeout(resolve, shortMs / 6));
      expect(await holder.renew([x])).toEqual(new Set(["x"]));
      await take(holder, y);
      expect(await rival.acquire(claimOf("x", "b"))).toBeUndefined();
      expect(await rival.acquire(claimOf("y", "b"))).toBeUndefined();
    }
  }, 60_000);
}

const calls: readonly (readonly [string, (store: LeaseStore) => Promise<unknown>])[] = [
  ["acquire", (store) => store.acquire(claimOf("y"))],
  ["renew", (store) => store.renew([claimOf("x")])],
  ["release", (store) => store.release([claimOf("x")])],
  ["find", (store) => store.find(["x"])],
  ["the claim's read", (store) => store.claimSlot.read()],
  ["the claim's replace", (store) => store.claimSlot.replace(undefined, "{}")],
];

function answering({ server, open }: Suite): void {
  /** Each call while the servers are so, all of them at once and then once more: on connections that there were, and on new ones. */
  async function troubled(trouble: "cut" | "hold"): Promise<void> {
    await using store = await open({ ttlMs: answerIn.ttlMs });
    await take(store, claimOf("x"));
    await server()[trouble]();
    try {
      for (let round = 0; round < 2; round++) {
        const ends = calls.map(async ([call, ask]) => {
          const askedAtMs = performance.now();
          const fault: unknown = await ask(store).then(
            () => `${call} was answered`,
            (error: unknown) => error,
          );
          expect(fault, call).toBeInstanceOf(LeaseFault);
          expect(fault, call).toMatchObject({ code: "lease_store_away", retryable: true });
          expect(performance.now() - askedAtMs, call).toBeLessThan(answerIn.thirdMs + answerIn.machineMs);
        });
        await Promise.all(ends);
      }
    } finally {
      await server().resume();
    }
    const answers = (): Promise<boolean> =>
      store.find(["x"]).then(
        () => true,
        () => false,
      );
    await expect.poll(answers, { interval: 100, timeout: 20_000 }).toBe(true);
  }

  it("is a fault of each call, and the store is of use again when the server is", async () => {
    await troubled("cut");
  }, 60_000);

  it("is a fault of each call within a third of a lease's length when the server is silent", async () => {
    await troubled("hold");
  }, 60_000);
}

function contending({ open, traits: { shortMs } }: Suite): void {
  it("move a counter that only a holder may move, and lose no move, whatever befalls them", async () => {
    const prefix = freshPrefix();
    const contest = await contend(() => open({ prefix, ttlMs: shortMs }), { terms: 30 });
    expect(contest.twoAtOnce).toEqual([]);
    expect(contest.counter).toBe(contest.moves);
    expect(contest.moves).toBeGreaterThan(contest.terms);
    // It was a storm.
    expect(contest.fates.crashed).toBeGreaterThan(0);
    expect(contest.late).toBeGreaterThanOrEqual(contest.fates.hindered);
    expect(contest.fates.hindered).toBeGreaterThan(0);
  }, 240_000);
}
