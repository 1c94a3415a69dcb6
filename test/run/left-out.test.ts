import { ensureRequestedRun, type RunRequest } from "@nightwriter/run";
import { bothPostgres } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { cancelRun, setItemStatus, testJob } from "./test-job.ts";

const date = "2026-03-14";
const businessDate = Temporal.PlainDate.from(date);
const keys = ["r0001", "r0002", "r0003", "r0004", "r0005"];
const manual = (requestId: string): RunRequest => ({ kind: "manual", businessDate, requestId, keys });

describe.each(bothPostgres)("what a requested run was asked for and does not have, on PostgreSQL %s", (server) => {
  it("is named with its reason and the run that is the reason, and what is planned is not", async () => {
    await using night = await testJob({ server, restaurants: keys.length });
    const request = async (requestId: string, key: string) => {
      const { run } = await ensureRequestedRun(night.database, night.job, { ...manual(requestId), keys: [key] });
      return run.id;
    };
    const parked = await request("parked", "r0001");
    await setItemStatus(night.db, parked, { key: "r0001", status: "parked" });
    const cancelled = await request("cancelled", "r0002");
    await setItemStatus(night.db, cancelled, { key: "r0002", status: "cancelled" });
    const runCancelled = await request("run cancelled", "r0003");
    await cancelRun(night.db, runCancelled);
    const due = await request("due", "r0004");

    const { planned, leftOut } = await ensureRequestedRun(night.database, night.job, manual("all"));

    expect(planned).toBe(1);
    expect(leftOut).toEqual({
      counts: { parked: 1, cancelled: 1, run_cancelled: 1, due: 1 },
      pairs: [
        { key: "r0001", businessDate: date, reason: "parked", runId: parked },
        { key: "r0002", businessDate: date, reason: "cancelled", runId: cancelled },
        { key: "r0003", businessDate: date, reason: "run_cancelled", runId: runCancelled },
        { key: "r0004", businessDate: date, reason: "due", runId: due },
      ],
    });
    const again = await ensureRequestedRun(night.database, night.job, manual("all"));
    expect(again).toMatchObject({ created: false, planned: 0, leftOut });
  });

  it("is nothing once it was applied elsewhere, and when everything was planned", async () => {
    await using night = await testJob({ server, restaurants: keys.length });
    await night.plan(date);
    await night.applyDue();
    const { planned, leftOut } = await ensureRequestedRun(night.database, night.job, manual("all"));
    expect({ planned, leftOut }).toEqual({ planned: keys.length, leftOut: { counts: {}, pairs: [] } });
  });

  it("is counted whole and listed up to twenty of each reason", async () => {
    await using night = await testJob({ server, restaurants: 30 });
    await night.plan(date);
    const { run } = await night.plan(date);
    for (const key of ["r0030", "r0029"]) await setItemStatus(night.db, run.id, { key, status: "parked" });
    const { planned, leftOut } = await ensureRequestedRun(night.database, night.job, {
      kind: "rerun",
      businessDate,
      requestId: "rerun",
    });
    expect({ planned, counts: leftOut.counts }).toEqual({ planned: 0, counts: { parked: 2, due: 28 } });
    expect(leftOut.pairs.map(({ key }) => key)).toEqual(["r0029", "r0030", ...night.keys.slice(0, 20)]);
  });

  it("are the pairs of a re-run whose dates were closed since the night", async () => {
    await using night = await testJob({ server, restaurants: 1 });
    await night.plan("2026-03-12");
    await night.plan(date);
    await night.applyDue();
    await night.db.updateTable("nightwriter.job").set({ closed_through: "2026-03-13" }).execute();
    // The night had an item of an earlier date, as it has for late sales.
    const { run } = await night.plan(date);
    await night.db
      .insertInto("nightwriter.run_item")
      .values({ run_id: run.id, business_date: "2026-03-13", key: "r0001", partition: 0 })
      .execute();
    const { leftOut } = await ensureRequestedRun(night.database, night.job, {
      kind: "rerun",
      businessDate,
      requestId: "rerun",
    });
    expect(leftOut.pairs).toContainEqual({
      key: "r0001",
      businessDate: "2026-03-13",
      reason: "closed",
      runId: undefined,
    });
  });
});
