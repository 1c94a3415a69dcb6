/** Trouble with leases as long as the design has them. What each scenario is and proves: test/fleet/trouble.ts. */

import { describe, expect, it } from "vitest";
import { expectNightInOrder } from "./fleet.ts";
import { blocking, freezing, planted } from "./planted.ts";
import { hideLeaseStore, hideServer, killVictim, type Refusal, stopVictim, type Trio } from "./trouble.ts";

/** A night that outlasts a lease and a half. */
const design = { leaseMs: 10_000, restaurants: 2_000, entryMs: 50 };

async function expectRefused({ fleet }: Trio, { fenced, partition, refusedWrites }: Refusal): Promise<void> {
  expect(new Set(fenced).size).toBe(fenced.length);
  expect(fenced).toContain(partition);
  expect(refusedWrites).toBeGreaterThanOrEqual(1n);
  await expectNightInOrder(fleet);
}

describe("one of three workers with leases of 10 s", { timeout: 300_000 }, () => {
  it("is killed: the others consume its partitions within 12 s, and what it had in hand within 17 s", async () => {
    await killVictim({ ...design, restaurants: 600, entryMs: 10 });
  });

  it("is frozen for 15 s before it sends a statement: that is refused, and it gets its share again", async () => {
    await stopVictim({ ...design, frozen: true, build: planted(freezing) }, expectRefused);
  });

  it("has an event loop that stands still for 15 s before it sends a statement: the same", async () => {
    await stopVictim({ ...design, frozen: false, build: planted(blocking(1.5 * design.leaseMs)) }, expectRefused);
  });

  it.each(["database", "queue"] as const)(
    "has a %s that accepts and says nothing while the other answers: held up for 14 s at most",
    async (server) => {
      await hideServer({ ...design, server });
    },
  );
});

describe("three workers with leases of 10 s", { timeout: 300_000 }, () => {
  it("stop by themselves while their lease store is away for 30 s, and go on when it is back", async () => {
    await hideLeaseStore(design);
  });
});
