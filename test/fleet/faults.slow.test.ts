/** Trouble with leases of 3 s; with leases as long as the design has them, see faults-long.slow.test.ts. */

import { describe, expect, it } from "vitest";
import { expectNightInOrder } from "./fleet.ts";
import { blocking, freezing, planted, withoutTokenCheck } from "./planted.ts";
import { hideLeaseStore, hideServer, killVictim, stopVictim } from "./trouble.ts";

const short = { leaseMs: 3_000, restaurants: 1_000, entryMs: 40 };

describe("one of three workers", { timeout: 180_000 }, () => {
  it("is killed: the others take its partitions and what it had in hand", async () => {
    await killVictim({ ...short, restaurants: 600, entryMs: 10 });
  });

  it("is frozen before it sends a statement: that is refused, and it starts anew", async () => {
    await stopVictim(
      { ...short, frozen: true, build: planted(freezing) },
      async ({ fleet }, { fenced, partition, refusedWrites }) => {
        expect(new Set(fenced).size).toBe(fenced.length);
        expect(fenced).toContain(partition);
        expect(refusedWrites).toBeGreaterThanOrEqual(1n);
        await expectNightInOrder(fleet);
      },
    );
  });

  it("has an event loop that stands still before it sends a statement: the same", async () => {
    const build = planted(blocking(1.5 * short.leaseMs));
    await stopVictim({ ...short, frozen: false, build }, async ({ fleet }, { fenced, partition, refusedWrites }) => {
      expect(fenced).toContain(partition);
      expect(refusedWrites).toBeGreaterThanOrEqual(1n);
      await expectNightInOrder(fleet);
    });
  });

  it("is frozen, in a build that does not check the token: its statement is not refused, which is how it is found out", async () => {
    await stopVictim(
      { ...short, frozen: true, build: planted(freezing, withoutTokenCheck) },
      async ({ fleet }, { fenced, partition }) => {
        expect(fenced).not.toContain(partition);
        // What it wrote, if the next holder had left it anything, verify names: an entry of a term that had ended.
        await expectNightInOrder(fleet, ["within-term", "total-row"]);
      },
    );
  });

  it.each(["database", "queue"] as const)(
    "has a %s that accepts and says nothing: the others do not wait for it",
    async (server) => {
      await hideServer({ ...short, server });
    },
  );
});

describe("three workers", { timeout: 180_000 }, () => {
  it("stop by themselves while their lease store is away, and go on when it is back", async () => {
    await hideLeaseStore(short);
  });
});
