import { SqlFault, type SqlFaultCode } from "@nightwriter/database";
import type { ItemOutcome } from "@nightwriter/ledger";
import { describe, expect, it } from "vitest";
import { batchLimit, type History, type SettleOptions, settle, untried } from "./settle.ts";

const middle: SettleOptions = { leaving: false, ended: false, batchSize: 200, appliedCount: 0, random: () => 0.5 };
const unknown = (code: SqlFaultCode): ItemOutcome => ({
  outcome: "unknown",
  fault: new SqlFault(code, new Error("the connection ended")),
});
const failing: ItemOutcome = { outcome: "failing", sqlstate: "22003", reason: "bigint out of range" };

describe("settle", () => {
  const final: ItemOutcome[] = [
    { outcome: "applied", deltaMinor: 1n, sourceCount: 1n, totalAfter: 1n, versionAfter: 1n },
    { outcome: "duplicate" },
    { outcome: "withdrawn", reason: "paused" },
    { outcome: "parked", sqlstate: "22003", reason: "bigint out of range" },
  ];
  it.each(final)("completes the queue job of an item that is $outcome", (outcome) => {
    expect(settle(outcome, untried, middle)).toEqual({ next: "complete" });
  });

  it("tries a fenced item again at once, and after that with growing pauses", () => {
    const fenced: ItemOutcome = { outcome: "fenced", storedToken: 2n };
    const first = settle(fenced, untried, middle);
    expect(first).toEqual({ next: "again", afterMs: 0, history: { ...untried, contentions: 1 } });
    expect(settle(fenced, { ...untried, contentions: 1 }, middle)).toMatchObject({ next: "again", afterMs: 30 });
  });

  it("tries a conflict again with jitter: between half of the pause and all of it", () => {
    const pause = (random: number): unknown =>
      settle({ outcome: "conflict" }, untried, { ...middle, random: () => random });
    expect(pause(0)).toMatchObject({ next: "again", afterMs: 10 });
    expect(pause(0.999)).toMatchObject({ next: "again", afterMs: expect.closeTo(20, 1) });
  });

  it.each<ItemOutcome>([{ outcome: "conflict" }, { outcome: "fenced", storedToken: 2n }])(
    "puts an item that stays $outcome back into the queue after eight tries",
    (outcome) => {
      let settlement = settle(outcome, untried, middle);
      let tries = 0;
      while (settlement.next === "again") {
        settlement = settle(outcome, settlement.history, middle);
        tries += 1;
      }
      expect(settlement).toEqual({ next: "postpone", afterMs: 1_500, history: { ...untried, postponements: 1 } });
      expect(tries).toBe(8);
    },
  );

  it("lets what goes back for a reason of its own come again later each time, up to a minute", () => {
    let history: History = untried;
    const waits: number[] = [];
    while (waits.length < 7) {
      const settlement = settle(failing, history, middle);
      if (settlement.next !== "postpone") throw new Error(`${settlement.next} instead of postponed`);
      waits.push(settlement.afterMs);
      history = settlement.history ?? untried;
    }
    expect(waits).toEqual([1_500, 3_000, 6_000, 12_000, 24_000, 45_000, 45_000]);
    expect(batchLimit(history, 200)).toBe(1);
  });

  it("tries a conflict twice at each delivery once it has gone back", () => {
    const first = settle({ outcome: "conflict" }, { ...untried, postponements: 1 }, middle);
    if (first.next !== "again") throw new Error(`${first.next} instead of again`);
    expect(settle({ outcome: "conflict" }, first.history, middle)).toMatchObject({ next: "postpone", afterMs: 3_000 });
  });

  it("keeps an item in hand however long the weather lasts", () => {
    let history: History = untried;
    for (let setbacks = 0; setbacks < 1_000; setbacks += 1) {
      const settlement = settle(unknown("weather"), history, middle);
      if (settlement.next !== "again") throw new Error(`not kept after ${setbacks} setbacks`);
      history = settlement.history;
    }
    expect(history).toMatchObject({ contentions: 0, setbacks: 1_000, own: { count: 1, timeouts: 0 } });
  });

  const leaving = { ...middle, leaving: true };
  const ended = { ...middle, ended: true };
  it.each<ItemOutcome>([{ outcome: "conflict" }, { outcome: "fenced", storedToken: 2n }, unknown("lost")])(
    "puts an item that is $outcome back into the queue when the partition is to be left",
    (outcome) => {
      expect(settle(outcome, untried, leaving)).toEqual({ next: "postpone", afterMs: 1_500 });
    },
  );
  it.each<ItemOutcome>([{ outcome: "conflict" }, { outcome: "fenced", storedToken: 2n }, unknown("weather")])(
    "hands an item that is $outcome back within a second when the right to write has ended",
    (outcome) => {
      expect(settle(outcome, untried, ended)).toEqual({ next: "postpone", afterMs: 500 });
      expect(settle(outcome, untried, { ...ended, leaving: true })).toEqual({ next: "postpone", afterMs: 500 });
    },
  );
  it("hands back an item for which nothing was sent", () => {
    expect(settle({ outcome: "unsent" }, untried, ended)).toEqual({ next: "postpone", afterMs: 500 });
  });
  it("completes the queue job of an applied item when the partition is to be left", () => {
    expect(settle({ outcome: "duplicate" }, untried, leaving)).toEqual({ next: "complete" });
  });
});

describe("batchLimit", () => {
  it("isolates an item that the server refuses after four setbacks", () => {
    const limits = [0, 1, 2, 3, 4, 5].map((setbacks) => batchLimit({ ...untried, setbacks }, 200));
    expect(limits).toEqual([200, 50, 12, 3, 1, 1]);
  });

  it("stays whole when a connection was lost, which says nothing about the items", () => {
    const settlement = settle(unknown("lost"), untried, middle);
    expect(settlement).toEqual({ next: "again", afterMs: 0, history: untried });
  });
});
