/** Workers of an earlier build beside today's, on today's schema: a fleet is never replaced all at once. */
import { olderBuild } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { businessDate, enqueueHeld, expectExact, planNight, writers } from "./night.ts";

describe("a worker of build c241fd6", { timeout: 120_000 }, () => {
  it("applies a night on today's schema, beside a worker of today, and parks in its own way what cannot be added", async () => {
    const build = await olderBuild("c241fd6", "that its workers share a night with today's");
    const bad = ["r0007", "r0077", "r0177", "r0277"];
    const amountMinor = 2n ** 63n - 1n;
    const sales = [...bad, ...bad].map((restaurant) => ({ restaurant, businessDate, amountMinor }));
    await using night = await planNight({ store: "redis", restaurants: 400, sales });
    await night.startWorker("older", {}, build);
    await night.startWorker("today");

    const release = await enqueueHeld(night, ["older", "today"]);
    await release();
    await night.finished(396);

    await expectExact(night, bad);
    const parked = await night.db
      .selectFrom("nightwriter.run_item")
      .select("key")
      .where("status", "=", "parked")
      .orderBy("key")
      .execute();
    expect(parked.map(({ key }) => key)).toEqual(bad);
    const attempts = await night.db
      .selectFrom("nightwriter.attempt")
      .select(["key", "sqlstate"])
      .distinct()
      .where("outcome", "=", "parked")
      .orderBy("key")
      .execute();
    expect(attempts).toEqual(bad.map((key) => ({ key, sqlstate: "22003" })));
    expect(await writers(night)).toEqual(["older", "today"]);
  });
});
