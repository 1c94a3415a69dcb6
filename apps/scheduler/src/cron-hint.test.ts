import { silentLogger } from "@nightwriter/core";
import { openDatabase } from "@nightwriter/database";
import type { JobDefinition } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { describe, expect, it } from "vitest";
import { startCronHint } from "./cron-hint.ts";
import type { Duty } from "./duty.ts";

/** A duty that touches no server: the hint only hands dates on. */
function dutyOf(schedule: Pick<JobDefinition, "cron" | "timeZone">): Duty {
  const database = openDatabase({ url: "postgres://127.0.0.1:1/none", applicationName: "unused" });
  const definition = { ...restaurantTotals, ...schedule };
  return {
    job: {
      id: 1,
      definition,
      partitionCount: 1,
      closedThrough: undefined,
      queryVersion: 1,
      otherVersions: [],
      isCurrent: true,
      history: { queryVersion: 1, versions: [] },
    },
    database,
    planner: database,
    queues: { partition: () => expect.unreachable("a hint enqueues nothing") },
    catchUpDays: 1,
    logger: silentLogger,
  };
}

describe("startCronHint", () => {
  it("hands on the instant that the tick is for, in the job's zone", async () => {
    const ticked = Promise.withResolvers<Temporal.Instant>();
    const now = Temporal.Now.zonedDateTimeISO("Pacific/Kiritimati");
    const cron = `* * ${now.hour},${now.add({ hours: 1 }).hour} * * *`;
    const hint = startCronHint(dutyOf({ cron, timeZone: "Pacific/Kiritimati" }), async (tickedAt) =>
      ticked.resolve(tickedAt),
    );
    const tickedAt = await ticked.promise;
    await hint.stop();
    expect(tickedAt.epochMilliseconds % 1_000).toBe(0);
    expect(tickedAt.since(now.toInstant()).total("seconds")).toBeLessThan(60);
  });

  it("waits on a stop for the night that it is at work at, and ticks no more", async () => {
    const begun = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    let ticks = 0;
    const hint = startCronHint(dutyOf({ cron: "* * * * * *", timeZone: "UTC" }), async () => {
      ticks += 1;
      begun.resolve();
      await done.promise;
    });
    await begun.promise;
    let stopped = false;
    const stopping = hint.stop().then(() => (stopped = true));
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    done.resolve();
    await stopping;
    expect(ticks).toBe(1);
  });
});
