import { mutatedBuild } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { dueNight } from "./fixture.ts";

describe("a scheduler with a bug in a duty", () => {
  it.for([
    { what: "a TypeError", thrown: 'new TypeError("planted")' },
    { what: "an error of no kind", thrown: 'new Error("planted")' },
  ])("logs $what as fatal and exits with 1", async ({ thrown }) => {
    const build = mutatedBuild({
      file: "apps/scheduler/src/mend-queue.ts",
      replace: "await reconcile({ database, job, queues })",
      by: `await Promise.reject(${thrown})`,
    });
    await using night = await dueNight({ store: "redis", restaurants: 1 });
    const scheduler = await night.start(build.environment);
    await build.loadedBy(scheduler);
    expect(await scheduler.exited).toMatchObject({ code: 1 });
    const fatal = scheduler.log.find(({ level }) => level === "fatal");
    expect(JSON.stringify(fatal)).toContain("planted");
    expect(scheduler.log.filter(({ msg }) => msg === "duty failed; will be tried again")).toEqual([]);
  });

  it("does not take a bug in a planning transaction for weather", async () => {
    const build = mutatedBuild({
      file: "packages/run/src/planning.ts",
      replace: "await lockPlanning(transaction, job.id);",
      by: 'await Promise.reject(new RangeError("planted"));',
    });
    await using night = await dueNight({ store: "redis", restaurants: 1 });
    const scheduler = await night.start(build.environment);
    expect(await scheduler.exited).toMatchObject({ code: 1 });
    const fatal = scheduler.log.find(({ level }) => level === "fatal");
    expect(JSON.stringify(fatal)).toContain("planted");
  });
});
