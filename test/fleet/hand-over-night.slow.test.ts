import type { QueueStore } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { growAndShrink, tell } from "./hand-over.ts";

describe.each<QueueStore>(["redis", "postgres"])("a night of 20,000 with queue and leases in %s", (queue) => {
  it("goes from one worker to four and to two with each partition handed over within 2 s, leases of 10 s", async () => {
    const settings = { LEASE_MS: "10000" };
    const growth = await growAndShrink({ stores: { queue }, restaurants: 20_000, entryMs: 0.2, settings });
    tell(`20,000 items, ${queue}`, growth);
    expect(growth.handOvers.filter(({ ms }) => ms < 0 || ms >= 2_000)).toEqual([]);
    expect(Math.max(...growth.afterSigtermMs)).toBeLessThan(2_000);
  }, 300_000);
});
