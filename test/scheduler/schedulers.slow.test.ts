import { type App, bothQueues, makeRestaurants } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { dueNight, endInOrder, enqueued } from "./fixture.ts";

describe.each(bothQueues)("schedulers with a queue in %s", (store) => {
  it("make one run, one set of items and one set of jobs when ten start at once for the same night, without leases", async () => {
    await using night = await dueNight({ store, restaurants: 300 });
    const schedulers = await Promise.all(Array.from({ length: 10 }, () => night.start({ LEASE_URL: "none" })));
    await Promise.all(schedulers.map((each) => each.waitForLog(({ msg }) => msg === "scheduler ready", 120_000)));
    await enqueued(night);
    // Their first duties are under way or done; each finishes them before it leaves.
    await Promise.all(schedulers.map(endInOrder));

    expect(await night.runs()).toMatchObject([{ run: { kind: "nightly" }, total: 300, due: 300 }]);
    expect(await night.db.selectFrom("nightwriter.run").select("id").execute()).toHaveLength(1);
    const items = await night.db.selectFrom("nightwriter.run_item").select("generation").execute();
    expect(items.map(({ generation }) => generation)).toEqual(Array.from({ length: 300 }, () => 0));
    const counts = await Promise.all(night.partitions.map((partition) => partition.counts()));
    const jobs = counts.reduce(
      (sum, each) => sum + each.waiting + each.delayed + each.active + each.completed + each.failed,
      0,
    );
    expect(jobs).toBe(300);
    const created = schedulers.flatMap(({ log }) =>
      log.filter(({ msg, created }) => msg === "night planned" && created === true),
    );
    expect(created).toHaveLength(1);
  }, 240_000);

  it("put back what a queue forgot, and mark a run that nothing is due of as finished", async () => {
    await using night = await dueNight({ store, restaurants: 20 });
    const scheduler = await night.start();
    await enqueued(night);
    for (const { bullQueue } of night.partitions) await bullQueue.obliterate({ force: true });
    // In one round, or in two if it looked while they were being emptied.
    await scheduler.waitForLog(() => mended(scheduler) >= 20, 60_000);
    await enqueued(night);
    await night.db.updateTable("nightwriter.run_item").set({ status: "cancelled" }).execute();
    await scheduler.waitForLog(({ msg, kind }) => msg === "run finished" && kind === "nightly", 60_000);
    expect(await night.runs()).toMatchObject([{ run: { finishedAt: expect.anything() }, cancelled: 20 }]);
    await endInOrder(scheduler);
  }, 120_000);

  it("live on when the server ends their connections", async () => {
    await using night = await dueNight({ store, restaurants: 5 });
    const scheduler = await night.start();
    await enqueued(night);
    const ended = await sql<{ ended: boolean }>`
      select pg_terminate_backend(pid) as ended from pg_stat_activity
      where datname = current_database() and application_name like 'scheduler %'`.execute(night.db);
    expect(ended.rows.length).toBeGreaterThan(0);
    await makeRestaurants(night.db, 1, { id: "new" });
    await sql`insert into nightwriter.run_item (run_id, business_date, key, partition)
      select id, business_date, 'new', 0 from nightwriter.run`.execute(night.db);
    await scheduler.waitForLog(({ msg, missing }) => msg === "queue mended" && missing === 1, 60_000);
    await endInOrder(scheduler);
  }, 120_000);
});

/** How many missing jobs it has put back so far. */
function mended({ log }: App): number {
  return log.reduce((sum, { msg, missing }) => (msg === "queue mended" ? sum + Number(missing) : sum), 0);
}

describe("a scheduler", () => {
  it("says which command mends a database without a schema, and ends with 1", async () => {
    await using night = await dueNight({ store: "redis", restaurants: 0 });
    await sql`drop schema nightwriter cascade`.execute(night.db);
    const scheduler = await night.start();
    expect(await scheduler.exited).toMatchObject({ code: 1 });
    expect(JSON.stringify(scheduler.log)).toContain("run: nightwriter migrate");
  });

  it("keeps no more connections than its pools allow, and leaves none behind", async () => {
    await using night = await dueNight({ store: "redis", restaurants: 50 });
    const scheduler = await night.start({ DATABASE_POOL_SIZE: "2" });
    await enqueued(night);
    const connections = async (): Promise<number> => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and application_name like 'scheduler %'`.execute(night.db);
      return rows[0]?.count ?? 0;
    };
    const there = await connections();
    expect(there).toBeGreaterThan(0);
    // Two of the pool, one of the planner, one that asks whether the database answers.
    expect(there).toBeLessThanOrEqual(4);
    await endInOrder(scheduler);
    await expect.poll(connections).toBe(0);
  });
});
