import { lookAtNights } from "@nightwriter/nights";
import { ensureRequestedRun } from "@nightwriter/run";
import { recordSales } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { imbalances, type TestJob, testJob } from "../run/test-job.ts";

const date = (text: string): Temporal.PlainDate => Temporal.PlainDate.from(text);

/** Plans these nights as a scheduler whose clock was ahead did, all on the evening of the first, and applies them. */
async function plannedEarly(dates: readonly string[]): Promise<TestJob> {
  const night = await testJob({ restaurants: 2 });
  for (const each of dates) await night.plan(each);
  await night.applyDue();
  await sql`update nightwriter.run set planned_at = ${`${dates[0]}T20:00:00Z`}`.execute(night.db);
  return night;
}

const sell = async ({ db, keys }: TestJob, businessDate: string): Promise<void> =>
  recordSales(db, [{ restaurant: keys[0] ?? "", businessDate, amountMinor: 700n }]);

async function early({ database, job }: TestJob): Promise<string[]> {
  return (await lookAtNights(database, job)).early.map(({ businessDate }) => businessDate.toString());
}

describe("a night that was planned before its business date was over", () => {
  it("adds nothing that is sold later, however often it is planned again, and is named; a rerun of the date adds it", async () => {
    await using night = await plannedEarly(["2026-03-14"]);
    expect(await early(night)).toEqual(["2026-03-14"]);
    await sell(night, "2026-03-14");
    expect(await night.plan("2026-03-14")).toMatchObject({ planned: 0 });
    const { database, job } = night;
    await ensureRequestedRun(database, job, { kind: "rerun", businessDate: date("2026-03-14"), requestId: "again" });
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
    expect(await early(night)).toEqual([]);
  });

  it("is made good by the next night of a later date, which finds what was sold since", async () => {
    await using night = await plannedEarly(["2026-03-14"]);
    await sell(night, "2026-03-14");
    await night.plan("2026-03-15");
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
    expect(await early(night)).toEqual([]);
  });

  it("is not made good by itself as long as the later nights were planned as early: none of them is missing", async () => {
    await using night = await plannedEarly(["2026-03-14", "2026-03-15", "2026-03-16"]);
    await sell(night, "2026-03-14");
    await sql`update nightwriter.job set created_at = '2026-03-14T12:00:00Z'`.execute(night.db);
    const now = Temporal.Instant.from("2026-03-17T03:30:00Z");
    expect((await lookAtNights(night.database, night.job, { now })).missing).toEqual([]);
    expect(await early(night)).toEqual(["2026-03-14", "2026-03-15", "2026-03-16"]);
    await night.plan("2026-03-17");
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
    expect(await early(night)).toEqual([]);
  });

  it("is not made good by a rerun of some keys, nor by one that was planned as early", async () => {
    await using night = await plannedEarly(["2026-03-14"]);
    const { database, job, keys } = night;
    const request = { kind: "rerun", businessDate: date("2026-03-14") } as const;
    await ensureRequestedRun(database, job, { ...request, requestId: "some", keys: keys.slice(0, 1) });
    await ensureRequestedRun(database, job, { ...request, requestId: "early" });
    await sql`update nightwriter.run set planned_at = '2026-03-14T21:00:00Z' where request_id = 'early'`.execute(
      night.db,
    );
    expect(await early(night)).toEqual(["2026-03-14"]);
  });

  it("is none that was planned at the instant at which its date was over", async () => {
    await using night = await plannedEarly(["2026-03-14"]);
    await sql`update nightwriter.run set planned_at = '2026-03-15T00:00:00Z'`.execute(night.db);
    expect(await early(night)).toEqual([]);
  });
});
