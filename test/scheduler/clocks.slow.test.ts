import { findSchedulers, type SchedulerSight } from "@nightwriter/fleet";
import { mutatedBuild } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { type DueNight, dueNight, endInOrder, enqueued } from "./fixture.ts";
import { leaseMs, lines, patienceMs } from "./leaders.ts";
import { movedClock } from "./moved-clock.ts";

const hour = 3_600_000;

const nightsOf = async ({ db }: DueNight): Promise<string[]> =>
  (await db.selectFrom("nightwriter.run").select("business_date").orderBy("business_date").execute()).map(
    (run) => run.business_date,
  );

async function heartOf({ database }: DueNight, name: string): Promise<SchedulerSight | undefined> {
  return (await findSchedulers(database)).find((each) => each.name === name);
}

describe("a scheduler whose clock is wrong", () => {
  it.for([
    { what: "three days ahead", aheadMs: 72 * hour },
    { what: "40 s ahead", aheadMs: 40_000 },
    { what: "two days behind", aheadMs: -48 * hour },
  ])(
    "$what stands by and says why, and leads and plans what is due when it is mended",
    { timeout: 120_000 },
    async ({ aheadMs }) => {
      await using night = await dueNight({ store: "redis", restaurants: 3 });
      await using clock = await movedClock(aheadMs);
      const scheduler = await night.start({ ...clock.environment, LEASE_MS: String(leaseMs), WORKER_NAME: "wrong" });
      await scheduler.waitForLog(({ msg }) => msg === "scheduler ready", patienceMs);
      await expect
        .poll(async () => (await heartOf(night, "wrong"))?.hindrance)
        .toMatch(/its clock is \d+ s (ahead|behind)/);
      expect(await heartOf(night, "wrong")).toMatchObject({ alive: true, leads: false });
      expect(lines(scheduler, "clock differs from the database's by more than 30 s: not leading")).toHaveLength(1);
      expect(lines(scheduler, "leading")).toEqual([]);
      expect(await nightsOf(night)).toEqual([]);

      await clock.setAhead(0);
      await scheduler.waitForLog(({ msg }) => msg === "leading", patienceMs);
      await enqueued(night);
      expect(await nightsOf(night)).toEqual([night.businessDate.toString()]);
      await expect.poll(async () => heartOf(night, "wrong")).toMatchObject({ leads: true, hindrance: undefined });
      await endInOrder(scheduler);
      expect(await heartOf(night, "wrong")).toMatchObject({ alive: false, leads: false });
    },
  );

  it("lets another lead when its clock jumps while it leads, and neither plans a night too early", async () => {
    await using night = await dueNight({ store: "redis", restaurants: 3 });
    await using clock = await movedClock(0);
    const settings = { LEASE_MS: String(leaseMs) };
    const first = await night.start({ ...settings, ...clock.environment, WORKER_NAME: "one" });
    await first.waitForLog(({ msg }) => msg === "leading", patienceMs);
    await enqueued(night);
    const second = await night.start({ ...settings, WORKER_NAME: "two" });
    await clock.setAhead(72 * hour);
    await second.waitForLog(({ msg }) => msg === "leading", patienceMs);
    await expect.poll(() => lines(first, "leading no more").length, { timeout: patienceMs }).toBe(1);
    expect(await nightsOf(night)).toEqual([night.businessDate.toString()]);
    await endInOrder(first);
    await endInOrder(second);
  }, 120_000);

  it("tells a difference of some seconds in one line and leads all the same", async () => {
    await using night = await dueNight({ store: "redis", restaurants: 3 });
    await using clock = await movedClock(10_000);
    const scheduler = await night.start({ ...clock.environment, LEASE_MS: "1000", WORKER_NAME: "wrong" });
    await enqueued(night);
    // The next heartbeat is some ten comparisons later.
    await expect.poll(async () => (await heartOf(night, "wrong"))?.clockAheadMs).toBeGreaterThan(9_000);
    expect(lines(scheduler, "clock differs from the database's")).toHaveLength(1);
    await endInOrder(scheduler);
  }, 120_000);

  it("plans the nights that are due by the database's clock and no other, even if it leads", async () => {
    await using night = await dueNight({ store: "redis", restaurants: 3 });
    await using clock = await movedClock(72 * hour);
    const careless = mutatedBuild({
      file: "packages/fleet/src/clock-watch.ts",
      replace: 'standing === "apart" ? apartText(aheadMs) : undefined',
      by: "undefined",
    });
    const scheduler = await night.start({
      ...clock.environment,
      NODE_OPTIONS: `${clock.environment["NODE_OPTIONS"]} ${careless.environment.NODE_OPTIONS}`,
      CATCH_UP_DAYS: "7",
    });
    await careless.loadedBy(scheduler);
    await scheduler.waitForLog(({ msg }) => msg === "night enqueued", patienceMs);
    await scheduler.waitForLog(({ msg }) => msg === "queue mended" || msg === "night enqueued", patienceMs);
    const due = [night.businessDate.subtract({ days: 1 }), night.businessDate].map(String);
    await expect.poll(() => nightsOf(night)).toEqual(due);
    await endInOrder(scheduler);
    expect(await nightsOf(night)).toEqual(due);
  }, 120_000);
});
