import { ensureRequestedRun, type RunRequest } from "@nightwriter/run";
import { barrier, makeRestaurants, recordSales } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { allDue, setItemStatus, testJob } from "./test-job.ts";

const date = "2026-03-14";
const businessDate = Temporal.PlainDate.from(date);
const manual: RunRequest = { kind: "manual", businessDate, requestId: "a", keys: ["r0001"] };

describe("ensureRequestedRun", () => {
  it("makes one run for one request id, however often and by however many it is asked", async () => {
    await using night = await testJob();
    const start = barrier(5);
    const ensured = await Promise.all(
      Array.from({ length: 5 }, async () => {
        await start.arrive();
        return ensureRequestedRun(night.database, night.job, manual);
      }),
    );
    expect(new Set(ensured.map(({ run }) => run.id)).size).toBe(1);
    expect(ensured.map(({ planned }) => planned).filter((planned) => planned > 0)).toEqual([1]);
  });

  it("does not stand in for the night of its date", async () => {
    await using night = await testJob();
    await ensureRequestedRun(night.database, night.job, manual);
    await night.applyDue();
    expect(await night.plan(date)).toMatchObject({ created: true, planned: 2 });
  });

  it("plans nothing more when it is asked again", async () => {
    await using night = await testJob();
    const rerun: RunRequest = { kind: "backfill", businessDate, requestId: "b" };
    expect(await ensureRequestedRun(night.database, night.job, rerun)).toMatchObject({ planned: 2 });
    await makeRestaurants(night.db, 1, { id: "new" });
    expect(await ensureRequestedRun(night.database, night.job, rerun)).toMatchObject({ created: false, planned: 0 });
  });

  it.each([
    ["kind", { ...manual, kind: "opening" }],
    ["date", { ...manual, businessDate: businessDate.add({ days: 1 }) }],
    ["keys", { ...manual, keys: ["r0002"] }],
  ] satisfies [string, RunRequest][])("refuses a request id that was used with another %s", async (_, other) => {
    await using night = await testJob();
    await ensureRequestedRun(night.database, night.job, manual);
    await expect(ensureRequestedRun(night.database, night.job, other)).rejects.toMatchObject({
      code: "request_differs",
    });
  });

  it("takes the same keys in another order, or twice, for the same request", async () => {
    await using night = await testJob();
    const { run } = await ensureRequestedRun(night.database, night.job, { ...manual, keys: ["r0001", "r0002"] });
    const again = await ensureRequestedRun(night.database, night.job, { ...manual, keys: ["r0002", "r0001", "r0002"] });
    expect(again).toMatchObject({ run: { id: run.id }, created: false });
  });

  it("names the keys that the job does not have, and makes no run", async () => {
    await using night = await testJob();
    const request: RunRequest = { ...manual, keys: ["r0001", "r9999", "77"] };
    await expect(ensureRequestedRun(night.database, night.job, request)).rejects.toMatchObject({
      code: "key_unknown",
      message: "job restaurant-totals: does not know the key 77, r9999; check its spelling or record it first",
    });
    expect(await night.db.selectFrom("nightwriter.run").select("id").execute()).toEqual([]);
  });

  it("plans given keys that are inactive", async () => {
    await using night = await testJob();
    await night.db.updateTable("sales.restaurant").set({ active: false }).execute();
    const { run } = await ensureRequestedRun(night.database, night.job, manual);
    expect(await night.itemsOf(run.id)).toEqual([`r0001 ${date}`]);
  });

  it("refuses a closed date", async () => {
    await using night = await testJob();
    await night.db.updateTable("nightwriter.job").set({ closed_through: date }).execute();
    const request = ensureRequestedRun(night.database, night.job, manual);
    await expect(request).rejects.toMatchObject({ code: "business_date_closed" });
  });

  it("leaves out what is parked, and can come out empty", async () => {
    await using night = await testJob();
    const first = await ensureRequestedRun(night.database, night.job, manual);
    await setItemStatus(night.db, first.run.id, { key: "r0001", status: "parked" });
    const second = await ensureRequestedRun(night.database, night.job, { ...manual, requestId: "b" });
    expect(second).toMatchObject({ created: true, planned: 0 });
    expect(second.run.plannedAt).toBeDefined();
  });
});

describe("a re-run", () => {
  it("has every item of the night again, those of earlier dates too, and keys that came since", async () => {
    await using night = await testJob();
    await night.plan("2026-03-13");
    await night.applyDue();
    await recordSales(night.db, [{ restaurant: "r0002", businessDate: "2026-03-13", amountMinor: 5 }]);
    await night.plan(date);
    await night.applyDue();
    await makeRestaurants(night.db, 1, { id: "new" });
    const { run } = await ensureRequestedRun(night.database, night.job, {
      kind: "rerun",
      businessDate,
      requestId: "again",
    });
    expect(await night.itemsOf(run.id)).toEqual([`new ${date}`, `r0001 ${date}`, "r0002 2026-03-13", `r0002 ${date}`]);
  });

  it("can be narrowed to some keys", async () => {
    await using night = await testJob();
    await night.plan(date);
    await night.applyDue();
    const request: RunRequest = { kind: "rerun", businessDate, requestId: "again", keys: ["r0002"] };
    const { run } = await ensureRequestedRun(night.database, night.job, request);
    expect(await night.itemsOf(run.id)).toEqual([`r0002 ${date}`]);
  });

  it("adds only what came since, and is no base for the nights after it", async () => {
    await using night = await testJob();
    await night.plan(date);
    await recordSales(night.db, [{ restaurant: "r0001", businessDate: date, amountMinor: 100 }]);
    await night.applyDue();
    await recordSales(night.db, [{ restaurant: "r0001", businessDate: date, amountMinor: 23 }]);
    await ensureRequestedRun(night.database, night.job, { kind: "rerun", businessDate, requestId: "again" });
    await night.applyDue();
    const entries = await night.db
      .selectFrom("nightwriter.ledger_entry")
      .select("delta_minor")
      .where("key", "=", "r0001")
      .orderBy("version_after")
      .execute();
    expect(entries.map(({ delta_minor }) => delta_minor)).toEqual([100n, 23n]);
    await recordSales(night.db, [{ restaurant: "r0001", businessDate: date, amountMinor: 7 }]);
    const { run } = await night.plan("2026-03-15");
    expect(await night.itemsOf(run.id)).toContain(`r0001 ${date}`);
  });

  it("is refused for a night that was never planned", async () => {
    await using night = await testJob();
    const request = ensureRequestedRun(night.database, night.job, { kind: "rerun", businessDate, requestId: "again" });
    await expect(request).rejects.toMatchObject({ code: "night_missing" });
    expect(await allDue(night.database, night.job)).toEqual([]);
  });
});
