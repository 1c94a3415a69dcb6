/** Fleets as nobody would set them up. */

import { type Heartbeat, recordHeartbeat } from "@nightwriter/fleet";
import { describe, expect, it } from "vitest";
import type { Night } from "../worker/night.ts";
import { expectNightInOrder, expectNoOverlap, expectShared, waitUntil } from "./fleet.ts";
import { planSlowNight, type SeededNight, shared } from "./hand-over.ts";

const settings = { LEASE_MS: "3000", BATCH_SIZE: "10", WORKER_CONCURRENCY: "10" };

async function plan(entryMs: number): Promise<SeededNight> {
  return planSlowNight({ stores: { queue: "redis" }, restaurants: 600, entryMs, settings });
}

/** A worker that beats, and does nothing else. Disposal ends it as a crash would. */
function idleWorker({ database }: Night, name: string): AsyncDisposable {
  const beat: Heartbeat = { name, host: "nowhere", pid: 1, upMs: 0, refusedWrites: 0, lastEntriesAgoMs: {} };
  const over = new AbortController();
  const beating = (async () => {
    while (!over.signal.aborted) {
      await recordHeartbeat(database, beat);
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, 300);
      over.signal.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      clearTimeout(timer);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      await beating;
    },
  };
}

describe("two workers of one name", { timeout: 180_000 }, () => {
  it("count as one, never consume a partition at the same time, and do the night", async () => {
    await using seeded = await plan(10);
    const { night, start } = seeded;
    const twins = await Promise.all([start("twin"), start("twin")]);
    await night.enqueue();
    const held = (): number[] => twins.flatMap((twin) => twin.held()).toSorted((one, other) => one - other);
    await waitUntil(() => expect(held()).toEqual(Array.from({ length: 16 }, (_, partition) => partition)));

    const [first, second] = twins;
    first?.app.signal("SIGTERM");
    expect(await first?.app.exited).toEqual({ code: 0, signal: null });
    await waitUntil(() => expectShared(second === undefined ? [] : [second]));
    await expectNightInOrder({ night });
    // They are told apart by what they logged, not by their name.
    expectNoOverlap(
      twins.map((twin, index) => ({
        ...twin,
        consumptions: () => twin.consumptions().map((each) => ({ ...each, worker: `twin ${index}` })),
      })),
    );
  });
});

describe("a worker that beats and takes nothing", { timeout: 180_000 }, () => {
  it("is stood in for by the next in rank after a lease and 2 s, and leaves no work undone", async () => {
    await using seeded = await plan(0);
    const { night, start } = seeded;
    await using _idle = idleWorker(night, "idle");
    const worker = await start("busy");
    await night.enqueue();
    await waitUntil(() => expect(worker.held()).toHaveLength(8));
    await shared([worker]);
    const [last] = worker.consumptions().toSorted((one, other) => Number(other.beganNs - one.beganNs));
    const [first] = worker.consumptions().toSorted((one, other) => Number(one.beganNs - other.beganNs));
    const waitedMs = Number((last?.beganNs ?? 0n) - (first?.beganNs ?? 0n)) / 1e6;
    expect(waitedMs).toBeGreaterThanOrEqual(4_500);
    await expectNightInOrder({ night });
  });
});
