/** What must not depend on how long a lease is, or on where leases are. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { expectNightInOrder, expectNoOverlap, nowNs, planFleet, takenOver } from "./fleet.ts";

describe("a worker whose queue accepts and says nothing", { timeout: 180_000 }, () => {
  it.each([
    ["in the same store", true],
    ["elsewhere", false],
  ])("with leases %s, is left out until the queue answers", async (_, leasesInQueue) => {
    const leaseMs = 3_000;
    await using fleet = await planFleet({ leaseMs, restaurants: 400, entryMs: 10 });
    const [victim, other] = await Promise.all([
      fleet.start("victim", { leasesInQueue }),
      fleet.start("other", { leasesInQueue }),
    ]);
    await fleet.shared([victim, other]);
    const held = victim.held();
    await fleet.night.enqueue();
    const hiddenNs = nowNs();
    victim.queue.hold();
    const delays = await takenOver(held, [other], hiddenNs);
    expect(Math.max(...delays)).toBeLessThanOrEqual(leaseMs + 4_000);
    await fleet.shared([other]);

    // Time enough to be taken for dead, and for alive again, three times.
    const sharedNs = nowNs();
    await delay(3 * leaseMs);
    const handedOver = other
      .consumptions()
      .filter(({ leftNs = 0n, why }) => why === "handed over" && leftNs > sharedNs);
    expect(handedOver).toEqual([]);
    victim.queue.resume();
    await fleet.shared([victim, other]);
    await expectNightInOrder(fleet);
    expectNoOverlap([victim, other]);
  });
});

describe("a worker with a lease of a minute", { timeout: 180_000 }, () => {
  it("hands over at SIGTERM as quickly as with a short one", async () => {
    await using fleet = await planFleet({ leaseMs: 60_000, restaurants: 100, entryMs: 1 });
    const [leaver, heir] = await Promise.all([fleet.start("leaver"), fleet.start("heir")]);
    await fleet.shared([leaver, heir]);
    const held = leaver.held();
    const askedNs = nowNs();
    leaver.app.signal("SIGTERM");
    const delays = await takenOver(held, [heir], askedNs);
    expect(Math.max(...delays)).toBeLessThanOrEqual(2_000);
    expect(await leaver.app.exited).toEqual({ code: 0, signal: null });
    await fleet.night.enqueue();
    await expectNightInOrder(fleet);
  });
});
