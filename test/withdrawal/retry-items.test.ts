/** The way back of a parked item: what becomes due, what stays as it was and why, and what is written down about it. */
import type { Database } from "@nightwriter/database";
import { finishRuns, runStatus } from "@nightwriter/run";
import { advisoryWaiter, bothPostgres, heldBack } from "@nightwriter/testkit";
import { type Retry, type RetryRequest, retryItems, withdrawnItems } from "@nightwriter/withdrawal";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { cancelRun, imbalances, pauseKey, setItemStatus, type TestJob, testJob } from "../run/test-job.ts";

const date = "2026-03-14";
const actor = { name: "asha", host: "ops-1" };

function asked(selection: RetryRequest["selection"] = {}): RetryRequest {
  return { selection, dryRun: false, actor, reason: "mended", arguments: { all: true } };
}

async function retry(night: TestJob, selection?: RetryRequest["selection"]): Promise<Retry> {
  return retryItems(night.database, night.job, asked(selection));
}

/** Plans the night, parks some keys with an error of theirs, applies the others and finishes the run; returns its id. */
async function parkedNight(night: TestJob, parked: readonly string[], businessDate = date): Promise<bigint> {
  const { run } = await night.plan(businessDate);
  for (const key of parked) {
    await setItemStatus(night.db, run.id, { key, status: "parked" });
    await night.db
      .insertInto("nightwriter.attempt")
      .values({
        run_id: run.id,
        business_date: businessDate,
        key,
        outcome: "parked",
        sqlstate: key === "r0002" ? "P0001" : "22003",
        reason: `bad ${key}`,
        worker: "w",
      })
      .execute();
  }
  await night.applyDue();
  await finishRuns(night.database, night.job);
  return run.id;
}

async function itemOf({ db }: Database, runId: bigint, key: string): Promise<object> {
  return db
    .selectFrom("nightwriter.run_item")
    .select(["status", "generation"])
    .where("run_id", "=", runId)
    .where("key", "=", key)
    .executeTakeFirstOrThrow();
}

async function auditOf({ db }: Database): Promise<Record<string, unknown>[]> {
  return db.selectFrom("nightwriter.audit_log").selectAll().orderBy("id").execute();
}

describe.each(bothPostgres)("retryItems on PostgreSQL %s", (server) => {
  it("makes parked items due under a new generation, takes the run's end back, and writes down who, why and what", async () => {
    await using night = await testJob({ server, restaurants: 4 });
    const runId = await parkedNight(night, ["r0001", "r0002"]);
    const before = await night.db
      .selectFrom("nightwriter.run")
      .select(["finished_at", "revision"])
      .where("id", "=", runId)
      .executeTakeFirstOrThrow();
    expect(before.finished_at).not.toBeNull();

    const { retried, leftOut } = await retry(night, { sqlstates: ["22003"] });

    expect(leftOut).toEqual([]);
    expect(retried).toMatchObject([
      { runId, key: "r0001", businessDate: date, sqlstate: "22003", due: { generation: 1, runId: String(runId) } },
    ]);
    expect(await itemOf(night.database, runId, "r0001")).toEqual({ status: "due", generation: 1 });
    expect(await itemOf(night.database, runId, "r0002")).toEqual({ status: "parked", generation: 0 });
    const after = await night.db.selectFrom("nightwriter.run").selectAll().where("id", "=", runId).executeTakeFirst();
    expect(after).toMatchObject({ finished_at: null, revision: before.revision + 1n });
    expect(await auditOf(night.database)).toMatchObject([
      {
        verb: "items retry",
        actor: "asha",
        host: "ops-1",
        reason: "mended",
        arguments: { all: true },
        before: {
          runs: [{ id: String(runId), finishedAt: before.finished_at?.toISOString() }],
          items: [{ key: "r0001", status: "parked", sqlstate: "22003", reason: "bad r0001" }],
        },
        after: {
          runs: [{ id: String(runId), finishedAt: null }],
          items: [{ key: "r0001", status: "due", generation: 1 }],
        },
      },
    ]);
    await night.applyDue();
    await finishRuns(night.database, night.job);
    const [status] = await runStatus(night.database, night.job, { runId });
    expect(status).toMatchObject({ applied: 3, parked: 1, due: 0 });
    expect(await imbalances(night.db)).toEqual([]);
  });

  it("changes nothing in a dry run, and nothing when there is nothing to retry", async () => {
    await using night = await testJob({ server });
    const runId = await parkedNight(night, ["r0001"]);
    const dry = await retryItems(night.database, night.job, { ...asked(), dryRun: true });
    expect(dry.retried).toMatchObject([{ key: "r0001", due: undefined }]);
    expect(await itemOf(night.database, runId, "r0001")).toEqual({ status: "parked", generation: 0 });
    expect(await retry(night, { keys: ["r0002"] })).toEqual({ retried: [], leftOut: [] });
    expect(await auditOf(night.database)).toEqual([]);
  });

  it("leaves a pair as it is of which another item is due, names that run, and retries the others", async () => {
    await using night = await testJob({ server });
    const runId = await parkedNight(night, ["r0001", "r0002"]);
    // What recordOpenings does, which plans without looking: a second item of the pair.
    const other = await night.db
      .insertInto("nightwriter.run")
      .values({
        job_id: night.job.id,
        business_date: date,
        kind: "opening",
        request_id: "beside",
        planned_at: new Date(),
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    await night.db
      .insertInto("nightwriter.run_item")
      .values({ run_id: other.id, business_date: date, key: "r0001", partition: 0 })
      .execute();

    const { retried, leftOut } = await retry(night);

    expect(leftOut).toMatchObject([{ key: "r0001", runId, obstacle: { why: "due", runId: other.id } }]);
    expect(retried).toMatchObject([{ key: "r0002" }]);
    expect(await itemOf(night.database, runId, "r0001")).toEqual({ status: "parked", generation: 0 });
  });

  it("makes one item of a pair due, that of the latest run, should several be parked", async () => {
    await using night = await testJob({ server, restaurants: 1 });
    const first = await parkedNight(night, ["r0001"]);
    const second = await night.db
      .insertInto("nightwriter.run")
      .values({ job_id: night.job.id, business_date: date, kind: "manual", request_id: "b", planned_at: new Date() })
      .returning("id")
      .executeTakeFirstOrThrow();
    await night.db
      .insertInto("nightwriter.run_item")
      .values({ run_id: second.id, business_date: date, key: "r0001", partition: 0, status: "parked" })
      .execute();
    const { retried, leftOut } = await retry(night);
    expect(retried).toMatchObject([{ runId: second.id }]);
    expect(leftOut).toMatchObject([{ runId: first, obstacle: { why: "due", runId: second.id } }]);
  });

  it("leaves items of cancelled runs, of closed dates, with an entry, and cancelled by name, each with its reason", async () => {
    await using night = await testJob({ server, restaurants: 5 });
    const runId = await parkedNight(night, ["r0001"]);
    const closed = await parkedNight(night, ["r0002"], "2026-03-12");
    await night.db.updateTable("nightwriter.job").set({ closed_through: "2026-03-12" }).execute();
    await setItemStatus(night.db, runId, { key: "r0003", status: "parked" });
    const unapplied = await parkedNight(night, ["r0004"], "2026-03-15");
    await setItemStatus(night.db, unapplied, { key: "r0004", status: "cancelled" });
    const cancelled = await parkedNight(night, ["r0005"], "2026-03-13");
    await cancelRun(night.db, cancelled);

    const { retried, leftOut } = await retry(night);

    expect(retried.map(({ key }) => key)).toEqual(["r0001"]);
    expect(leftOut.map(({ runId: run, key, obstacle }) => [run, key, obstacle.why])).toEqual([
      [runId, "r0003", "applied"],
      [closed, "r0002", "closed"],
      [unapplied, "r0004", "cancelled"],
      [cancelled, "r0005", "run_cancelled"],
    ]);
    const byName = await retry(night, { keys: ["r0004"] });
    expect(byName).toMatchObject({ retried: [{ key: "r0004", status: "cancelled" }], leftOut: [] });
  });

  it("waits for a planner under way", async () => {
    await using night = await testJob({ server });
    await parkedNight(night, ["r0001"]);
    await using held = await heldBack(night.database);
    await held.run("select pg_advisory_xact_lock($1, $2)", [0x6e777264, night.job.id]);
    const retrying = retry(night);
    await advisoryWaiter(night.db);
    await held.commit();
    expect((await retrying).retried).toHaveLength(1);
  });

  it("is parked again with an attempt of its own when its data are as bad as before", async () => {
    await using night = await testJob({ server, restaurants: 1 });
    const runId = await parkedNight(night, ["r0001"]);
    for (const again of [1, 2]) {
      const { retried } = await retry(night);
      expect(retried).toMatchObject([{ due: { generation: again } }]);
      await setItemStatus(night.db, runId, { key: "r0001", status: "parked" });
    }
    expect(await auditOf(night.database)).toHaveLength(2);
  });

  it("makes items of a paused key due, which then wait for it", async () => {
    await using night = await testJob({ server, restaurants: 1 });
    const runId = await parkedNight(night, ["r0001"]);
    await pauseKey(night.db, "r0001");
    expect((await retry(night)).retried).toHaveLength(1);
    const [status] = await runStatus(night.database, night.job, { runId });
    expect(status).toMatchObject({ paused: 1, parked: 0, due: 0 });
  });
});

describe("withdrawnItems", () => {
  it("lists what is withdrawn and has no entry, in order, with its last error, page by page", async () => {
    await using night = await testJob({ restaurants: 2_500 });
    const { run } = await night.plan(date);
    await sql`update nightwriter.run_item set status = 'parked' where run_id = ${run.id} and key > 'r0100'`.execute(
      night.db,
    );
    await sql`insert into nightwriter.attempt (run_id, business_date, key, outcome, reason, sqlstate, worker)
      values (${run.id}, ${date}, 'r2500', 'parked', 'out of range', '22003', 'w')`.execute(night.db);
    const sizes: number[] = [];
    const found: string[] = [];
    for await (const page of withdrawnItems(night.database, night.job)) {
      sizes.push(page.length);
      found.push(...page.map(({ key }) => key));
    }
    expect(sizes).toEqual([1_000, 1_000, 400]);
    expect(found).toEqual(night.keys.slice(100));
    const [only] = await Array.fromAsync(withdrawnItems(night.database, night.job, { sqlstates: ["22003"] }));
    expect(only).toMatchObject([{ key: "r2500", sqlstate: "22003", reason: "out of range", status: "parked" }]);
  });
});
