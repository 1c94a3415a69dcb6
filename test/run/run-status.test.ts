import { invariant } from "@nightwriter/core";
import { parkItems } from "@nightwriter/ledger";
import { readTerms } from "@nightwriter/partition";
import { countDue, ensureRequestedRun, finishRuns, lockPlanning, runStatus } from "@nightwriter/run";
import { advisoryWaiter, recordSales } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { allDue, cancelRun, pauseKey, setItemStatus, testJob } from "./test-job.ts";

const date = "2026-03-14";
const businessDate = Temporal.PlainDate.from(date);

describe("runStatus", () => {
  it("counts each item once: applied, due, paused, parked or cancelled", async () => {
    await using night = await testJob({ restaurants: 6 });
    await recordSales(night.db, [
      { restaurant: "r0001", businessDate: date, amountMinor: 120 },
      { restaurant: "r0002", businessDate: date, amountMinor: -20 },
    ]);
    const { run } = await night.plan(date);
    await night.applyDue(["r0001", "r0002"]);
    await setItemStatus(night.db, run.id, { key: "r0003", status: "parked" });
    await setItemStatus(night.db, run.id, { key: "r0004", status: "cancelled" });
    await pauseKey(night.db, "r0005");

    const [status, ...others] = await runStatus(night.database, night.job, { businessDate });
    expect(others).toEqual([]);
    const { total, applied, due, paused, parked, cancelled, deltaMinor } = status ?? {};
    expect({ total, applied, due, paused, parked, cancelled, deltaMinor }).toEqual({
      total: 6,
      applied: 2,
      due: 1,
      paused: 1,
      parked: 1,
      cancelled: 1,
      deltaMinor: 100n,
    });
    expect(status?.parkedItems).toMatchObject([{ key: "r0003", businessDate: date, reason: undefined }]);
    expect((await allDue(night.database, night.job)).map(({ key }) => key)).toEqual(["r0006"]);
    expect(await countDue(night.database, night.job)).toEqual(new Map([[expect.any(Number), 1]]));
  });

  it("counts what a cancelled run had not applied as cancelled", async () => {
    await using night = await testJob();
    const { run } = await night.plan(date);
    await night.applyDue(["r0001"]);
    await cancelRun(night.db, run.id);
    const [status] = await runStatus(night.database, night.job, { runId: run.id });
    expect(status).toMatchObject({ total: 2, applied: 1, cancelled: 1, due: 0 });
    expect(await allDue(night.database, night.job)).toEqual([]);
  });

  it("has every run of the date, oldest first, and a rate once there is one", async () => {
    await using night = await testJob();
    await night.plan(date);
    await night.applyDue();
    await ensureRequestedRun(night.database, night.job, { kind: "rerun", businessDate, requestId: "again" });
    const statuses = await runStatus(night.database, night.job, { businessDate });
    expect(statuses.map(({ run, applied, due }) => [run.kind, applied, due])).toEqual([
      ["nightly", 2, 0],
      ["rerun", 0, 2],
    ]);
    const [nightly, rerun] = statuses;
    expect(nightly?.appliedPerSecond).toBeGreaterThan(0);
    expect(rerun).toMatchObject({ appliedPerSecond: undefined, firstAppliedAt: undefined, lastAppliedAt: undefined });
  });

  it("lists parked items with their error, up to the limit, and counts all", async () => {
    await using night = await testJob({ restaurants: 5, definition: { partitionCount: 1 } });
    const { database, job } = night;
    const { run } = await night.plan(date);
    const [term] = await readTerms(database, job);
    invariant(term !== undefined, "the job has one partition");
    const parked = night.keys.map((key) => ({
      item: { runId: run.id, key, businessDate: date },
      outcome: { outcome: "parked", sqlstate: "22003", reason: `${key} is out of range` } as const,
    }));
    await parkItems(database, { job, term, parked, worker: "test" });
    const [status] = await runStatus(night.database, night.job, { businessDate, parkedLimit: 2 });
    expect(status?.parked).toBe(5);
    expect(status?.parkedItems).toMatchObject([
      { key: "r0001", sqlstate: "22003", reason: "r0001 is out of range" },
      { key: "r0002", sqlstate: "22003" },
    ]);
  });

  it("is empty for a date without runs", async () => {
    await using night = await testJob();
    expect(await runStatus(night.database, night.job, { businessDate })).toEqual([]);
  });
});

describe("finishRuns", () => {
  it("finishes a run when every item is applied, parked or cancelled, and says so once", async () => {
    await using night = await testJob({ restaurants: 3 });
    const { run } = await night.plan(date);
    await night.applyDue(["r0001"]);
    expect(await finishRuns(night.database, night.job)).toEqual([]);
    await setItemStatus(night.db, run.id, { key: "r0002", status: "parked" });
    await setItemStatus(night.db, run.id, { key: "r0003", status: "cancelled" });
    expect(await finishRuns(night.database, night.job)).toMatchObject([{ id: run.id, finishedAt: expect.anything() }]);
    expect(await finishRuns(night.database, night.job)).toEqual([]);
  });

  it("keeps a run with a paused key unfinished", async () => {
    await using night = await testJob();
    await night.plan(date);
    await pauseKey(night.db, "r0002");
    await night.applyDue();
    expect(await finishRuns(night.database, night.job)).toEqual([]);
  });

  it("finishes a run without items, and none that is cancelled", async () => {
    await using night = await testJob({ restaurants: 0 });
    await night.plan(date);
    const { run } = await night.plan("2026-03-15");
    await cancelRun(night.db, run.id);
    expect((await finishRuns(night.database, night.job)).map((each) => each.businessDate.toString())).toEqual([date]);
  });

  it("does not finish a run under a planner that is adding to it", async () => {
    await using night = await testJob();
    const { run } = await night.plan(date);
    await night.applyDue();
    const finished = await night.db.transaction().execute(async (transaction) => {
      await lockPlanning(transaction, night.job.id);
      const finishing = finishRuns(night.database, night.job);
      await Promise.race([advisoryWaiter(transaction), finishing]);
      await transaction
        .insertInto("nightwriter.run_item")
        .values({ run_id: run.id, business_date: "2026-03-13", key: "r0001", partition: 0 })
        .execute();
      return { finishing };
    });
    expect(await finished.finishing).toEqual([]);
  });
});
