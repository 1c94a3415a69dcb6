import { LeaseFault, type LeaseSight } from "@nightwriter/lease";
import { describe, expect, it } from "vitest";
import { createUnheld } from "./unheld.ts";

const someone: LeaseSight = { holder: "someone", nonce: "n", leftMs: 5_000 };

function watch(): {
  unheld: ReturnType<typeof createUnheld>;
  held: Map<string, LeaseSight>;
  pass: (ms: number) => void;
  store: { fault?: Error };
} {
  let nowMs = 10_000;
  const held = new Map<string, LeaseSight>();
  const store: { fault?: Error } = {};
  // Like a store over a network: a look at nothing costs no round trip.
  const find = async (names: readonly string[]): Promise<ReadonlyMap<string, LeaseSight>> => {
    if (names.length === 0) return new Map();
    if (store.fault !== undefined) throw store.fault;
    return new Map(held);
  };
  const clock = { now: () => Temporal.Instant.fromEpochMilliseconds(0), monotonicMs: () => nowMs };
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { unheld: createUnheld({ find }, clock), held, pass, store };
}

describe("unheld", () => {
  it("counts from the first look that saw nobody hold the lease, and anew after one that saw somebody", async () => {
    const { unheld, held, pass } = watch();
    expect(unheld.unheldMs("a")).toBe(0);
    await unheld.look(["a", "b"]);
    pass(300);
    held.set("b", someone);
    await unheld.look(["a", "b"]);
    pass(200);
    expect([unheld.unheldMs("a"), unheld.unheldMs("b")]).toEqual([500, 0]);
    held.set("a", someone);
    held.delete("b");
    await unheld.look(["a", "b"]);
    pass(100);
    expect([unheld.unheldMs("a"), unheld.unheldMs("b")]).toEqual([0, 100]);
  });

  it("forgets what it is not asked about any more", async () => {
    const { unheld, pass } = watch();
    await unheld.look(["a"]);
    pass(300);
    await unheld.look([]);
    expect(unheld.unheldMs("a")).toBe(0);
  });

  it("knows nothing after a store did not answer, and since when that is", async () => {
    const { unheld, pass, store } = watch();
    expect(unheld.answeredAgoMs()).toBe(Number.POSITIVE_INFINITY);
    await unheld.look(["a"]);
    pass(300);
    store.fault = new LeaseFault("lease_store_away", "no answer", { retryable: true });
    await unheld.look(["a"]);
    expect(unheld.unheldMs("a")).toBe(0);
    expect(unheld.answeredAgoMs()).toBe(300);
  });

  it("asks the store also where it has no leases to look at", async () => {
    const { unheld, pass, store } = watch();
    await unheld.look([]);
    expect(unheld.answeredAgoMs()).toBe(0);
    pass(300);
    store.fault = new LeaseFault("lease_store_away", "no answer", { retryable: true });
    await unheld.look([]);
    expect(unheld.answeredAgoMs()).toBe(300);
  });

  it("does not take a bug for a store that is away", async () => {
    const { unheld, store } = watch();
    store.fault = new TypeError("ours");
    await expect(unheld.look(["a"])).rejects.toThrow("ours");
  });
});
