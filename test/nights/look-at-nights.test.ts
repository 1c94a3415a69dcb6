import { openDatabase } from "@nightwriter/database";
import { findSchedulers, recordSchedulerHeartbeat } from "@nightwriter/fleet";
import { getJob } from "@nightwriter/job";
import { leadershipOf, lookAtNights, type NightsLook } from "@nightwriter/nights";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { pauseKey, setItemStatus, type TestJob, testJob } from "../run/test-job.ts";

const instant = (text: string): Temporal.Instant => Temporal.Instant.from(text);

async function registeredAt(text: string): Promise<TestJob> {
  const night = await testJob({ restaurants: 3 });
  await sql`update nightwriter.job set created_at = ${text}`.execute(night.db);
  return night;
}

const lookAt = async ({ database, job }: TestJob, now: string): Promise<NightsLook> =>
  lookAtNights(database, job, { now: instant(now) });

const overdue = async (night: TestJob, now: string): Promise<string[]> =>
  (await lookAt(night, now)).overdue.map(({ reason, status }) => `${status.run.businessDate.toString()} ${reason}`);

describe("lookAtNights", () => {
  it("names every night that is missing since the job's first one, and none that is not due yet", async () => {
    await using night = await registeredAt("2026-01-01T12:00:00Z");
    await night.plan("2026-02-10");
    const { missing } = await lookAt(night, "2026-03-01T03:29:59Z");
    expect(missing).toHaveLength(31 + 27 - 1);
    expect(String(missing[0])).toBe("2026-01-01");
    expect(String(missing.at(-1))).toBe("2026-02-27");
  });

  it("names a run of which nothing was applied for a quarter of an hour, and one that a night has overtaken", async () => {
    await using night = await registeredAt("2026-03-01T12:00:00Z");
    await night.plan("2026-03-14");
    await sql`update nightwriter.run set created_at = '2026-03-15T03:30:00Z', planned_at = '2026-03-15T03:30:00Z'`.execute(
      night.db,
    );
    expect(await overdue(night, "2026-03-15T03:44:00Z")).toEqual([]);
    expect(await overdue(night, "2026-03-15T03:46:00Z")).toEqual(["2026-03-14 stalled"]);
    // Paused keys keep a run unfinished and stall nothing.
    for (const key of night.keys) await pauseKey(night.db, key);
    expect(await overdue(night, "2026-03-16T03:29:00Z")).toEqual([]);
    expect(await overdue(night, "2026-03-16T03:30:00Z")).toEqual(["2026-03-14 late"]);
  });

  it("counts what is parked in any run, however old, and names the oldest", async () => {
    await using night = await registeredAt("2026-03-01T12:00:00Z");
    const [first = "", second = ""] = night.keys;
    for (const date of ["2026-03-14", "2026-03-15"]) {
      const { run } = await night.plan(date);
      await setItemStatus(night.db, run.id, { key: date === "2026-03-14" ? second : first, status: "parked" });
    }
    await night.applyDue();
    await sql`update nightwriter.run set finished_at = now()`.execute(night.db);
    const { parked } = await lookAt(night, "2027-03-01T00:00:00Z");
    expect(parked).toMatchObject({
      count: 2,
      oldest: [
        { key: second, businessDate: "2026-03-14" },
        { key: first, businessDate: "2026-03-15" },
      ],
    });
  });

  it("answers of a job that nobody has made that it has no nights", async () => {
    await using night = await testJob({ restaurants: 1 });
    const none = { ...night.job, id: 0 };
    expect(await lookAtNights(night.database, none)).toMatchObject({ missing: [], early: [], overdue: [], due: 0 });
  });
});

describe("lookAtNights of a role that may only select", () => {
  it("answers all the same", async () => {
    await using night = await testJob({ restaurants: 1 });
    const { db } = night;
    const url = new URL(night.test.url);
    const role = sql.id(`auditor_of${url.pathname.replaceAll(/\W/g, "_")}`);
    await sql`create role ${role} login password 'auditor'`.execute(db);
    try {
      await sql`grant usage on schema nightwriter, sales to ${role}`.execute(db);
      await sql`grant select on all tables in schema nightwriter, sales to ${role}`.execute(db);
      url.username = `auditor_of${url.pathname.replaceAll(/\W/g, "_")}`;
      url.password = "auditor";
      await using database = openDatabase({ url: url.href, applicationName: "auditor" });
      const job = await getJob(database, night.job.definition);
      expect(await lookAtNights(database, job)).toMatchObject({ early: [], parked: { count: 0 } });
    } finally {
      await sql`drop owned by ${role}`.execute(db);
      await sql`drop role ${role}`.execute(db);
    }
  });
});

describe("leadershipOf", () => {
  it("tells who leads from who is alive, and who has gone", async () => {
    await using night = await testJob({ restaurants: 1 });
    const { database, db } = night;
    const leadership = async (laterMs = 0): Promise<string> => {
      const { now, schedulers } = await lookAtNights(database, night.job);
      return leadershipOf(schedulers, now.add({ milliseconds: laterMs }));
    };
    const beat = async (leads: boolean, hindrance?: string): Promise<void> =>
      recordSchedulerHeartbeat(database, {
        name: "one",
        host: "here",
        pid: 7,
        upMs: 0,
        leads,
        clockAheadMs: 0,
        hindrance,
      });
    expect(await leadership()).toBe("unknown");
    await beat(true);
    expect(await leadership()).toBe("led");
    await beat(false);
    expect(await leadership()).toBe("led");
    expect(await leadership(61_000)).toBe("leaderless");
    await beat(false, "its clock is 40 s ahead of the database's; set it right");
    expect(await leadership()).toBe("leaderless");
    expect((await findSchedulers(database))[0]?.hindrance).toContain("40 s ahead");
    await sql`update nightwriter.scheduler set seen_at = now() - interval '31 seconds'`.execute(db);
    expect(await leadership()).toBe("gone");
  });
});
