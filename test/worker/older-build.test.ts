/** Workers of an earlier build beside today's, on today's schema: a fleet is never replaced all at once. */
import { olderBuild } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { enqueueHeld, expectExact, planNight, writers } from "./night.ts";

describe("a worker of build c241fd6", { timeout: 120_000 }, () => {
  it("applies a night on today's schema, beside a worker of today", async () => {
    const build = await olderBuild("c241fd6", "that its workers share a night with today's");
    await using night = await planNight({ store: "redis", restaurants: 400 });
    await night.startWorker("older", {}, build);
    await night.startWorker("today");

    const release = await enqueueHeld(night, ["older", "today"]);
    await release();
    await night.finished(400);

    await expectExact(night);
    expect(await writers(night)).toEqual(["older", "today"]);
  });
});
