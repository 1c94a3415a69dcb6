import { silentLogger } from "@nightwriter/core";
import { describe, expect, it } from "vitest";
import { type WatchedQueue, watchQueues } from "./watchdog.ts";

interface Look {
  readonly waiting: number;
  readonly active: number;
  readonly paused?: boolean;
}

type Sight = Look | Error | "not consumed";

/** Shows a queue these looks one after the other, then stops; returns what was reported and after how many looks. */
async function watch(looks: readonly Sight[], patience: number): Promise<{ halted?: string; seen: number }> {
  const stop = new AbortController();
  let seen = 0;
  let halted: string | undefined;
  const next = (): Sight => {
    const look = looks[seen] ?? new Error("looked once too often");
    seen += 1;
    if (seen >= looks.length) stop.abort();
    return look;
  };
  const queueThatShows = (look: Look | Error): WatchedQueue => ({
    name: "{totals-0}",
    counts: () => (look instanceof Error ? Promise.reject(look) : Promise.resolve(look)),
    isPaused: () => Promise.resolve(!(look instanceof Error) && look.paused === true),
  });
  await watchQueues({
    queues: () => {
      const look = next();
      return look === "not consumed" ? [] : [queueThatShows(look)];
    },
    everyMs: 1,
    patience,
    stopping: stop.signal,
    logger: silentLogger,
    onHalt: (name) => {
      halted = name;
    },
  });
  return { seen, ...(halted !== undefined && { halted }) };
}

const halted: Look = { waiting: 3, active: 0 };

describe("watchQueues", () => {
  it("reports a queue that has work waiting and nothing active at so many looks in a row", async () => {
    expect(await watch([halted, halted, halted, halted, halted], 3)).toEqual({ halted: "{totals-0}", seen: 3 });
  });
  it.each<[string, Sight]>([
    ["something is active", { waiting: 3, active: 1 }],
    ["nothing waits", { waiting: 0, active: 0 }],
    ["the queue is paused", { waiting: 3, active: 0, paused: true }],
    ["the queue does not answer", new Error("away")],
    ["it was somebody else's meanwhile", "not consumed"],
  ])("begins to count anew when %s", async (_, look) => {
    expect(await watch([halted, halted, look, halted, halted], 3)).toEqual({ seen: 5 });
  });
});
