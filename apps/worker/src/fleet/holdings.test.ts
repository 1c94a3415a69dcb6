import { invariant, silentLogger } from "@nightwriter/core";
import type { Job } from "@nightwriter/job";
import { partitionName } from "@nightwriter/partition";
import type { Consumer, ConsumerEnd } from "@nightwriter/queue";
import { describe, expect, it } from "vitest";
import type { Ending, Warrant } from "../warrant/warrant.ts";
import { createHoldings, type Holdings } from "./holdings.ts";
import type { OwnPartition, Share } from "./membership.ts";

const definition = { name: "totals", partitionCount: 4, queryVersion: 1 };
/** Nothing here looks at a definition's source. */
const job = { id: 1, definition, partitionCount: 4, closedThrough: undefined } as unknown as Job;

function share(ranks: Readonly<Record<number, number>>, of: Job = job): Share {
  const own = Object.entries(ranks).map(
    ([partition, rank]): OwnPartition => ({ job: of, partition: Number(partition), rank }),
  );
  return new Map(own.map((each) => [partitionName(each), each]));
}

class TestWarrant implements Warrant {
  readonly #over = new AbortController();
  readonly #events: string[];
  readonly #name: string;
  readonly ended: AbortSignal = this.#over.signal;

  constructor(name: string, events: string[]) {
    this.#name = name;
    this.#events = events;
  }

  term(): { partition: number; fencingToken: bigint; nonce: string } | undefined {
    return this.ended.aborted ? undefined : { partition: 0, fencingToken: 1n, nonce: "n" };
  }

  async refused(): Promise<void> {
    this.end("fenced");
  }

  end(ending: Ending): void {
    this.#over.abort(ending);
  }

  async giveUp(): Promise<void> {
    this.end("handed over");
    this.#events.push(`${this.#name} given up`);
  }
}

interface Stage {
  readonly holdings: Holdings;
  /** What was done, in order. */
  readonly events: string[];
  /** Partitions that somebody else has. */
  readonly taken: Set<string>;
  readonly warrants: Map<string, TestWarrant>;
  /** How long nobody has held a partition. */
  readonly unheldMs: Map<string, number>;
  nowMs: number;
  /** Lets the consumer of a partition close; until then it hangs. */
  closed(name: string): void;
  names(): string[];
}

function stage(): Stage {
  const events: string[] = [];
  const closing = new Map<string, PromiseWithResolvers<ConsumerEnd>>();
  const open = {
    events,
    taken: new Set<string>(),
    warrants: new Map<string, TestWarrant>(),
    unheldMs: new Map<string, number>(),
    nowMs: 0,
  };
  const holdings = createHoldings({
    take: async (own) => {
      const name = partitionName(own);
      if (open.taken.has(name)) return undefined;
      const warrant = new TestWarrant(name, events);
      open.warrants.set(name, warrant);
      return warrant;
    },
    consume: (own): Consumer => {
      const name = partitionName(own);
      const { promise, resolve, reject } = Promise.withResolvers<ConsumerEnd>();
      closing.set(name, { promise, resolve, reject });
      events.push(`${name} consumed`);
      return {
        name,
        stop: async () => {
          events.push(`${name} stopping`);
          return promise;
        },
        abort: async () => undefined,
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
    drainMs: 1_000,
    unheldMs: (name) => open.unheldMs.get(name) ?? 0,
    patienceMs: 12_000,
    standInMs: 100_000,
    clock: { now: () => Temporal.Instant.fromEpochMilliseconds(0), monotonicMs: () => open.nowMs },
    logger: silentLogger,
    crash: (bug) => events.push(String(bug)),
  });
  return Object.assign(open, {
    holdings,
    closed: (name: string) => {
      const consumer = closing.get(name);
      invariant(consumer !== undefined, `${name}: is not consumed`);
      consumer.resolve("drained");
    },
    names: () => holdings.consuming().map(partitionName),
  });
}

/** Lets everything happen that waits for nothing. */
const settle = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("holdings", () => {
  it("take what is missing, and hand over what is not theirs any more: drained first, then given up", async () => {
    const on = stage();
    on.holdings.adjust(share({ 0: 0, 1: 0 }));
    await on.holdings.settled();
    expect(on.names()).toEqual(["totals/0", "totals/1"]);
    on.holdings.adjust(share({ 1: 0 }));
    await settle();
    expect(on.names()).toEqual(["totals/1"]);
    expect(on.events.slice(2)).toEqual(["totals/0 stopping"]);
    on.closed("totals/0");
    await settle();
    expect(on.events.slice(2)).toEqual(["totals/0 stopping", "totals/0 given up"]);
  });

  it("try again, at each call, for what somebody else has", async () => {
    const on = stage();
    on.taken.add("totals/0");
    on.holdings.adjust(share({ 0: 0 }));
    await on.holdings.settled();
    await settle();
    expect(on.names()).toEqual([]);
    on.taken.clear();
    on.holdings.adjust(share({ 0: 0 }));
    await on.holdings.settled();
    expect(on.names()).toEqual(["totals/0"]);
  });

  it.each<Ending>(["fenced", "lost"])(
    "give up what is %s at once, and take it again when it is gone",
    async (ending) => {
      const on = stage();
      on.holdings.adjust(share({ 0: 0 }));
      await on.holdings.settled();
      on.warrants.get("totals/0")?.end(ending);
      await settle();
      expect(on.events).toEqual(["totals/0 consumed", "totals/0 stopping", "totals/0 given up"]);
      on.holdings.adjust(share({ 0: 0 }));
      await settle();
      expect(on.names()).toEqual([]);
      on.closed("totals/0");
      await settle();
      on.holdings.adjust(share({ 0: 0 }));
      await on.holdings.settled();
      expect(on.names()).toEqual(["totals/0"]);
    },
  );

  it("are not held up by a consumer that hangs while it closes, nor take its partition a second time", async () => {
    const on = stage();
    on.holdings.adjust(share({ 0: 0 }));
    await on.holdings.settled();
    on.holdings.adjust(share({ 1: 0 }));
    on.warrants.get("totals/0")?.end("lost");
    await settle();
    expect(on.names()).toEqual(["totals/1"]);
    expect(on.events).toContain("totals/0 given up");
    for (let looks = 0; looks < 3; looks += 1) {
      on.holdings.adjust(share({ 0: 0, 1: 0 }));
      await settle();
    }
    expect(on.events.filter((event) => event === "totals/0 consumed")).toHaveLength(1);
  });

  it("hand everything over when the job has another partition count, and take it anew", async () => {
    const on = stage();
    on.holdings.adjust(share({ 0: 0 }));
    await on.holdings.settled();
    const resized = { ...job, partitionCount: 8 };
    on.holdings.adjust(share({ 0: 0, 7: 0 }, resized));
    await settle();
    expect(on.names()).toEqual(["totals/7"]);
    on.closed("totals/0");
    await settle();
    on.holdings.adjust(share({ 0: 0, 7: 0 }, resized));
    await on.holdings.settled();
    expect(on.holdings.consuming().map((own) => own.job)).toEqual([resized, resized]);
  });

  it("stand in for whoever does not take his partition, after as long as their rank says, and for a while", async () => {
    const on = stage();
    const ranked = share({ 0: 1, 1: 2 });
    for (const name of ranked.keys()) on.unheldMs.set(name, 12_000);
    on.holdings.adjust(ranked);
    await on.holdings.settled();
    expect(on.names()).toEqual(["totals/0"]);
    on.unheldMs.set("totals/1", 24_000);
    on.holdings.adjust(ranked);
    await on.holdings.settled();
    expect(on.names()).toEqual(["totals/0", "totals/1"]);
    on.nowMs = 100_000;
    on.unheldMs.clear();
    on.holdings.adjust(ranked);
    expect(on.holdings.consuming()).toHaveLength(2);
    await settle();
    expect(on.names()).toEqual([]);
  });

  it("hand everything over at the end, and wait until it is gone", async () => {
    const on = stage();
    on.holdings.adjust(share({ 0: 0, 1: 0 }));
    await on.holdings.settled();
    let ended = false;
    const ending = on.holdings.end().finally(() => {
      ended = true;
    });
    await settle();
    on.closed("totals/0");
    await settle();
    expect(ended).toBe(false);
    // A look that was under way when the end was asked for.
    on.holdings.adjust(share({ 2: 0 }));
    await settle();
    expect(on.events).not.toContain("totals/2 consumed");
    on.closed("totals/1");
    await ending;
    expect(on.events).toContain("totals/1 given up");
  });
});
