import { partitionOf } from "@nightwriter/partition";
import { ensureNightlyRun, ensureRequestedRun, finishRuns } from "@nightwriter/run";
import { barrier, bothPostgres, makeRestaurants, recordSales } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { allDue, cancelRun, imbalances, setItemStatus, testJob } from "./test-job.ts";

const date = "2026-03-14";
const plainDate = Temporal.PlainDate.from(date);

describe.each(bothPostgres)("ensureNightlyRun on PostgreSQL %s", (server) => {
  it("plans every active key, whether it has sales or not, and inactive ones that have", async () => {
    await using night = await testJob({ server, restaurants: 4 });
    const [busy = "", , asleep = "", gone = ""] = night.keys;
    await night.db.updateTable("sales.restaurant").set({ active: false }).where("id", "in", [asleep, gone]).execute();
    await recordSales(night.db, [
      { restaurant: busy, businessDate: date, amountMinor: 120 },
      { restaurant: asleep, businessDate: date, amountMinor: 70 },
    ]);
    const { run, created, planned } = await night.plan(date);
    expect({ created, planned }).toEqual({ created: true, planned: 3 });
    expect(await night.itemsOf(run.id)).toEqual([`r0001 ${date}`, `r0002 ${date}`, `r0003 ${date}`]);
  });

  it("gives each item its key's partition, and each key a total at zero", async () => {
    await using night = await testJob({ server, restaurants: 20 });
    await night.plan(date);
    const due = await allDue(night.database, night.job);
    expect(due.map(({ key, partition }) => [key, partition])).toEqual(
      night.keys.map((key) => [key, partitionOf(key, 4)]),
    );
    const totals = await night.db
      .selectFrom("nightwriter.key_total")
      .select(["key", "total_minor", "version"])
      .orderBy("key")
      .execute();
    expect(totals).toEqual(night.keys.map((key) => ({ key, total_minor: 0n, version: 0n })));
  });

  it("answers the same run a second time, and adds what is missing by then", async () => {
    await using night = await testJob({ server });
    const first = await night.plan(date);
    await night.applyDue();
    await finishRuns(night.database, night.job);
    await makeRestaurants(night.db, 1, { id: "new" });
    const second = await night.plan(date);
    expect({ ...second, run: second.run.id }).toEqual({
      run: first.run.id,
      created: false,
      planned: 1,
      uncompared: [],
    });
    expect(second.run.finishedAt).toBeUndefined();
    expect((await allDue(night.database, night.job)).map(({ key }) => key)).toEqual(["new"]);
    expect(await night.plan(date)).toMatchObject({ created: false, planned: 0 });
  });

  it("makes one run and one set of items when ten callers ask at once", async () => {
    await using night = await testJob({ server, restaurants: 50, max: 10 });
    const start = barrier(10);
    const ensured = await Promise.all(
      Array.from({ length: 10 }, async () => {
        await start.arrive();
        return night.plan(date);
      }),
    );
    expect(new Set(ensured.map(({ run }) => run.id)).size).toBe(1);
    expect(ensured.map(({ created }) => created).filter(Boolean)).toHaveLength(1);
    expect(ensured.reduce((sum, { planned }) => sum + planned, 0)).toBe(50);
    expect(await allDue(night.database, night.job)).toHaveLength(50);
  });

  it("leaves out what is parked or cancelled in any run of the job", async () => {
    await using night = await testJob({ server, restaurants: 3 });
    const [parked = "", cancelled = ""] = night.keys;
    const manual = await ensureRequestedRun(night.database, night.job, {
      kind: "manual",
      businessDate: plainDate,
      requestId: "one",
      keys: [parked, cancelled],
    });
    await setItemStatus(night.db, manual.run.id, { key: parked, status: "parked" });
    await setItemStatus(night.db, manual.run.id, { key: cancelled, status: "cancelled" });
    const { run } = await night.plan(date);
    expect(await night.itemsOf(run.id)).toEqual([`r0003 ${date}`]);
  });

  it("goes on with a pair whose parked or cancelled item has its entry", async () => {
    await using night = await testJob({ server, restaurants: 3 });
    const [parked = "", cancelled = ""] = night.keys;
    const { run } = await night.plan(date);
    await night.applyDue();
    await setItemStatus(night.db, run.id, { key: parked, status: "parked" });
    await setItemStatus(night.db, run.id, { key: cancelled, status: "cancelled" });
    await recordSales(
      night.db,
      night.keys.map((restaurant) => ({ restaurant, businessDate: date, amountMinor: 7 })),
    );
    const next = await night.plan(plainDate.add({ days: 1 }).toString());
    expect(await night.itemsOf(next.run.id)).toEqual(expect.arrayContaining(night.keys.map((key) => `${key} ${date}`)));
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
  });

  it("leaves out what another run has still to apply, and plans it when that run has", async () => {
    await using night = await testJob({ server, restaurants: 2 });
    const [one = ""] = night.keys;
    const request = { kind: "manual", businessDate: plainDate, requestId: "one", keys: [one] } as const;
    await ensureRequestedRun(night.database, night.job, request);
    const { run } = await night.plan(date);
    expect(await night.itemsOf(run.id)).toEqual([`r0002 ${date}`]);
    await night.applyDue();
    expect(await night.plan(date)).toMatchObject({ planned: 1 });
    expect(await night.itemsOf(run.id)).toEqual([`r0001 ${date}`, `r0002 ${date}`]);
  });

  it("leaves out what a cancelled run had not applied", async () => {
    await using night = await testJob({ server, restaurants: 2 });
    const [one = ""] = night.keys;
    const request = { kind: "manual", businessDate: plainDate, requestId: "one", keys: [one] } as const;
    const { run } = await ensureRequestedRun(night.database, night.job, request);
    await cancelRun(night.db, run.id);
    const nightly = await night.plan(date);
    expect(await night.itemsOf(nightly.run.id)).toEqual([`r0002 ${date}`]);
  });

  it("adds nothing to a night that was cancelled", async () => {
    await using night = await testJob({ server });
    const { run } = await night.plan(date);
    await cancelRun(night.db, run.id);
    await makeRestaurants(night.db, 1, { id: "new" });
    expect(await night.plan(date)).toMatchObject({ created: false, planned: 0 });
  });

  it("refuses a closed date, and plans nothing of one that was touched later", async () => {
    await using night = await testJob({ server });
    await night.plan("2026-03-12");
    await night.applyDue();
    await night.db.updateTable("nightwriter.job").set({ closed_through: "2026-03-13" }).execute();
    await expect(night.plan("2026-03-13")).rejects.toMatchObject({ name: "RunFault", code: "business_date_closed" });
    expect(await night.plan("2026-03-12")).toMatchObject({ created: false, planned: 0 });
    const [restaurant = ""] = night.keys;
    await recordSales(night.db, [{ restaurant, businessDate: "2026-03-12", amountMinor: 5 }]);
    const { run } = await night.plan(date);
    expect(await night.itemsOf(run.id)).toEqual([`r0001 ${date}`, `r0002 ${date}`]);
  });

  it("uses the partition count that is stored, not the one in hand", async () => {
    await using night = await testJob({ server, restaurants: 20 });
    await night.db.updateTable("nightwriter.job").set({ partition_count: 2 }).execute();
    await night.plan(date);
    const due = await allDue(night.database, night.job);
    expect(due.map(({ partition }) => partition)).toEqual(night.keys.map((key) => partitionOf(key, 2)));
  });

  it("waits for no writer: a night is planned while another one is being written", async () => {
    await using night = await testJob({ server });
    const { run } = await night.plan("2026-03-13");
    await night.database.session(async (writer) => {
      await writer.query("begin");
      await writer.query("select 1 from nightwriter.run where id = $1 for share", [run.id]);
      await writer.query("select 1 from nightwriter.key_total for no key update");
      await makeRestaurants(night.db, 1, { id: "new" });
      expect(await night.plan(date)).toMatchObject({ planned: 3 });
      expect(await night.plan("2026-03-13")).toMatchObject({ planned: 1 });
      await writer.query("rollback");
    });
  });

  it("plans the others, and the pair itself, when one pair's source cannot be summed", async () => {
    const source = {
      kind: "stamped",
      rows: () =>
        sql<never>`(select restaurant_id as key, business_date, 100 / amount_minor as amount_minor, xid, epoch from sales.sale)`,
    } as const;
    await using night = await testJob({ server, definition: { source } });
    await night.plan("2026-03-13");
    await night.applyDue();
    await recordSales(night.db, [
      { restaurant: "r0001", businessDate: "2026-03-13", amountMinor: 0 },
      { restaurant: "r0002", businessDate: "2026-03-13", amountMinor: 5 },
    ]);
    const { run } = await night.plan(date);
    expect(await night.itemsOf(run.id)).toEqual([
      "r0001 2026-03-13",
      `r0001 ${date}`,
      "r0002 2026-03-13",
      `r0002 ${date}`,
    ]);
  });

  it("leaves nothing behind when it fails", async () => {
    await using night = await testJob({ server });
    const definition = {
      ...night.job.definition,
      keys: () => sql<never>`(select id as key, active from sales.nowhere)`,
    };
    await expect(ensureNightlyRun(night.database, { ...night.job, definition }, plainDate)).rejects.toMatchObject({
      code: "bug",
    });
    expect(await night.db.selectFrom("nightwriter.run").selectAll().execute()).toEqual([]);
    expect(await night.plan(date)).toMatchObject({ created: true, planned: 2 });
  });
});
