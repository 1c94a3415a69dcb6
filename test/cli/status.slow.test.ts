import { recordSchedulerHeartbeat } from "@nightwriter/fleet";
import { registerJob } from "@nightwriter/job";
import { connectQueues } from "@nightwriter/queue";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { bothQueues } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { documentOf, installation } from "./fixture.ts";

describe("nightwriter status without a date", { timeout: 120_000 }, () => {
  it("names what is missing of any age, who is not there and what is off, each with its command, and ends with 3", async () => {
    await using made = await installation();
    const { database } = made;
    await registerJob(database, restaurantTotals);
    expect((await made.run("status")).code).toBe(0);
    await sql`update nightwriter.job set created_at = now() - interval '30 days'`.execute(database.db);
    const scheduler = { name: "clock-off", host: "here", pid: 7, upMs: 0, leads: false, clockAheadMs: 40_000 };
    await recordSchedulerHeartbeat(database, { ...scheduler, hindrance: "its clock is 40 s ahead of the database's" });
    const ran = await made.run("status");
    expect(ran.code).toBe(3);
    expect(ran.stdout).toMatch(
      /missing: \d\d nights were never planned, .*; mend it with: nightwriter run --from \S+ --to \S+ --wait/,
    );
    expect(ran.stdout).toContain("clock: scheduler clock-off does not lead: its clock is 40 s ahead");
    expect(ran.stdout).toContain("no leader: 1 scheduler is alive, and none leads");
    await sql`update nightwriter.scheduler set seen_at = now() - interval '1 hour'`.execute(database.db);
    const gone = documentOf(await made.run("status", "--json"));
    expect(gone).toMatchObject({
      missing: expect.any(Array),
      schedulers: [{ name: "clock-off", alive: false }],
      findings: expect.arrayContaining([
        expect.objectContaining({ kind: "no scheduler", trouble: true, remedy: "nightwriter scheduler" }),
        expect.objectContaining({ kind: "missing" }),
      ]),
    });
  });

  it.for(bothQueues)(
    "names a queue in %s that was paused by hand, and the command that lets it go on",
    async (store) => {
      await using made = await installation(store);
      const { id } = await registerJob(made.database, restaurantTotals);
      const { QUEUE_URL: url = "", QUEUE_PREFIX: prefix = "" } = made.settings;
      await using queues = await connectQueues({ url, prefix, applicationName: "test" });
      await queues.partition(restaurantTotals.name, 5).bullQueue.pause();
      const paused = await made.run("status");
      expect(paused.code).toBe(3);
      expect(paused.stdout).toMatch(/queue paused: .* of partition 5: .*; mend it with: nightwriter partitions resume/);
      const resumed = await made.run("partitions", "resume", "--reason", "the till is mended", "--json");
      expect(documentOf(resumed)).toMatchObject({ resumed: [5] });
      expect((await made.run("status")).code).toBe(0);
      const audited = await made.database.db.selectFrom("nightwriter.audit_log").selectAll().execute();
      expect(audited).toMatchObject([{ job_id: id, verb: "partitions resume", reason: "the till is mended" }]);
    },
  );

  it("says that the queue cannot be asked, and all the rest", async () => {
    await using made = await installation("redis", { QUEUE_URL: "redis://127.0.0.1:1" });
    const ran = await made.run("status");
    expect(ran.code).toBe(3);
    expect(ran.stdout).toContain("queue unknown: the queue cannot be asked whether somebody has paused it");
    expect(ran.stdout).toContain("no runs yet");
  });
});
