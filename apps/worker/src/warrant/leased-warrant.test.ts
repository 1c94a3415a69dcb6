import { type Logger, silentLogger } from "@nightwriter/core";
import { SqlFault } from "@nightwriter/database";
import type { Lease } from "@nightwriter/lease";
import type { Term } from "@nightwriter/partition";
import { describe, expect, it } from "vitest";
import { createLeasedWarrant } from "./leased-warrant.ts";
import type { Warrant } from "./warrant.ts";

const term: Term = { partition: 3, fencingToken: 7n, nonce: "n" };

interface Fixture {
  readonly warrant: Warrant;
  /** What was done, in order. */
  readonly done: string[];
  leftMs: number;
  sealFault?: Error;
  readonly lose: () => void;
}

function open(): Fixture {
  const done: string[] = [];
  const over = new AbortController();
  const lease: Lease = {
    name: "totals/3",
    holder: "me",
    nonce: "n",
    storeToken: undefined,
    leftMs: () => fixture.leftMs,
    lost: over.signal,
  };
  const logger: Logger = { ...silentLogger, warn: (_fields: unknown, msg?: string) => void done.push(msg ?? "") };
  const warrant = createLeasedWarrant({
    lease,
    term,
    leases: { release: async () => void done.push("release") },
    seal: async () => {
      done.push("seal");
      if (fixture.sealFault !== undefined) throw fixture.sealFault;
      return true;
    },
    logger,
  });
  const fixture: Fixture = { warrant, done, leftMs: 1_000, lose: () => over.abort("not renewed") };
  return fixture;
}

describe("leased warrant", () => {
  it("is the term while the lease is trusted, and seals and releases when it is given up", async () => {
    const { warrant, done } = open();
    expect(warrant.term()).toBe(term);
    await warrant.giveUp();
    expect(warrant.term()).toBeUndefined();
    expect(warrant.ended.reason).toBe("handed over");
    expect(done).toEqual(["seal", "release"]);
  });

  it("ends for good as soon as nothing is left of the trust, before anybody says that the lease is lost", async () => {
    const fixture = open();
    fixture.leftMs = 0;
    expect(fixture.warrant.term()).toBeUndefined();
    expect(fixture.warrant.ended.reason).toBe("lost");
    fixture.leftMs = 1_000;
    expect(fixture.warrant.term()).toBeUndefined();
    await fixture.warrant.giveUp();
    expect(fixture.done).toEqual(["release"]);
  });

  it("ends when the lease is lost", () => {
    const { warrant, lose } = open();
    lose();
    expect(warrant.ended.reason).toBe("lost");
    expect(warrant.term()).toBeUndefined();
  });

  it("ends at the first refused write, says so once, and has nothing to seal", async () => {
    const { warrant, done } = open();
    await warrant.refused(term);
    await warrant.refused(term);
    expect(warrant.term()).toBeUndefined();
    expect(warrant.ended.reason).toBe("fenced");
    await warrant.giveUp();
    expect(done).toEqual(["fenced", "release"]);
  });

  it("says that a write was refused also when the lease was lost before its answer came", async () => {
    const { warrant, done, lose } = open();
    lose();
    await warrant.refused(term);
    expect(warrant.ended.reason).toBe("lost");
    expect(done).toEqual(["fenced"]);
  });

  it("is given up although its term cannot be sealed now", async () => {
    const fixture = open();
    fixture.sealFault = new SqlFault("lost", new Error("the connection ended"));
    await fixture.warrant.giveUp();
    expect(fixture.done).toEqual(["seal", "term not sealed: the next raise ends it", "release"]);
  });

  it("does not take a bug for weather", async () => {
    const fixture = open();
    fixture.sealFault = new SqlFault("bug", new Error("no such column"));
    await expect(fixture.warrant.giveUp()).rejects.toThrow("no such column");
  });
});
