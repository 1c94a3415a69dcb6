import { describe, expect, it } from "vitest";
import { expectNightInOrder, waitUntil } from "./fleet.ts";
import { growAndShrink, handOversOf, planSlowNight, type Stores, shared, tell } from "./hand-over.ts";

const small = { BATCH_SIZE: "10", WORKER_CONCURRENCY: "10" };

describe.each<[string, Stores]>([
  ["queue and leases in redis", { queue: "redis" }],
  ["queue and leases in postgres", { queue: "postgres" }],
  ["its queue in redis and its leases in postgres", { queue: "redis", leases: "database" }],
])("a fleet with %s", { timeout: 180_000 }, (what, stores) => {
  it("grows from one worker to four and shrinks to two: each partition is handed over within 2 s", async () => {
    const growth = await growAndShrink({ stores, restaurants: 1_500, entryMs: 10, settings: small });
    tell(what, growth);
    expect(growth.handOvers.filter(({ ms }) => ms < 0 || ms >= 2_000)).toEqual([]);
    expect(Math.max(...growth.afterSigtermMs)).toBeLessThan(2_000);
  });
});

describe("ten workers", { timeout: 180_000 }, () => {
  it("that start at once end with one or two of 16 partitions each, and do the night", async () => {
    await using seeded = await planSlowNight({
      stores: { queue: "redis" },
      restaurants: 800,
      entryMs: 0,
      settings: { ...small, DATABASE_POOL_SIZE: "2" },
    });
    const { night, start } = seeded;
    await night.enqueue();
    const workers = await Promise.all(Array.from({ length: 10 }, (_, index) => start(`worker-${index}`)));
    await shared(workers);
    for (const worker of workers) expect(worker.held().length).toBeLessThanOrEqual(2);
    await expectNightInOrder({ night });
    expect(handOversOf(workers).filter(({ ms }) => ms < 0)).toEqual([]);
  });
});

describe("workers without leases", { timeout: 180_000 }, () => {
  it("all consume all partitions, raise no term, and end with exact totals", async () => {
    await using seeded = await planSlowNight({
      stores: { queue: "redis", leases: "none" },
      restaurants: 800,
      entryMs: 0,
      settings: small,
    });
    const { night, start } = seeded;
    const workers = await Promise.all(["left", "middle", "right"].map(start));
    await night.enqueue({ generations: 2 });
    for (const worker of workers) await waitUntil(() => expect(worker.held()).toHaveLength(16));
    await expectNightInOrder({ night });
    const tokens = workers.flatMap((worker) => worker.consumptions()).map(({ fencingToken }) => fencingToken);
    // The first term of each partition, and no other.
    expect(new Set(tokens)).toEqual(new Set(Array.from({ length: 16 }, (_, partition) => partition + 1)));
  });
});
