import { missingNights } from "@nightwriter/schedule";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type TestJob, testJob } from "../run/test-job.ts";

async function registeredAt(instant: string): Promise<TestJob> {
  const night = await testJob({ restaurants: 1 });
  await sql`update nightwriter.job set created_at = ${instant}`.execute(night.db);
  return night;
}

/** Nights are due at 03:30 UTC. */
async function missing({ database, job }: TestJob, now: string, days: number | undefined = 3): Promise<string[]> {
  return (await missingNights(database, job, { now: Temporal.Instant.from(now), days })).map(String);
}

describe("missingNights", () => {
  it("are those that are due by now and not planned, oldest first, as far back as it looks", async () => {
    await using night = await registeredAt("2026-01-01T00:00:00Z");
    await night.plan("2026-03-12");
    await night.db
      .insertInto("nightwriter.run")
      .values({ job_id: night.job.id, business_date: "2026-03-13", kind: "nightly" })
      .execute();
    expect(await missing(night, "2026-03-15T03:30:00Z")).toEqual(["2026-03-13", "2026-03-14"]);
    expect(await missing(night, "2026-03-15T03:29:59Z")).toEqual(["2026-03-11", "2026-03-13"]);
  });

  it("are none that were due before the job was registered", async () => {
    await using night = await registeredAt("2026-03-14T12:00:00Z");
    expect(await missing(night, "2026-03-15T12:00:00Z")).toEqual(["2026-03-14"]);
  });

  it("are none that are closed or that an operator cancelled", async () => {
    await using night = await registeredAt("2026-01-01T00:00:00Z");
    await night.db.updateTable("nightwriter.job").set({ closed_through: "2026-03-12" }).execute();
    await night.db
      .insertInto("nightwriter.run")
      .values({ job_id: night.job.id, business_date: "2026-03-13", kind: "nightly", cancelled_at: new Date() })
      .execute();
    expect(await missing(night, "2026-03-15T12:00:00Z")).toEqual(["2026-03-14"]);
  });

  it("are not there to a request: a manual run of the date does not stand in for its night", async () => {
    await using night = await registeredAt("2026-03-14T12:00:00Z");
    await night.db
      .insertInto("nightwriter.run")
      .values({
        job_id: night.job.id,
        business_date: "2026-03-14",
        kind: "manual",
        request_id: "a",
        planned_at: new Date(),
      })
      .execute();
    expect(await missing(night, "2026-03-15T12:00:00Z")).toEqual(["2026-03-14"]);
  });
});
