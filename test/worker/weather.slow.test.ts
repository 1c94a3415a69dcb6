import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateToLatest, openDatabase } from "@nightwriter/database";
import { startPostgres, startRedis } from "@nightwriter/services";
import { bothQueues } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { enqueueHeld, expectExact, type Night, planNight, until, waitingStatements } from "./night.ts";

/** Nothing is parked, and no queue job failed or used up an attempt. */
async function expectNobodyBlamed({ db, partitions }: Night): Promise<void> {
  const parked = await db.selectFrom("nightwriter.run_item").select("key").where("status", "<>", "due").execute();
  expect(parked).toEqual([]);
  for (const { bullQueue } of partitions) {
    const jobs = await bullQueue.getJobs(["completed", "failed"]);
    expect(jobs.filter(({ failedReason, attemptsMade }) => failedReason !== undefined || attemptsMade > 1)).toEqual([]);
  }
}

/** Ends the sessions of this application that have a statement under way; returns how many. */
async function endSessions({ db }: Night, applicationName: string): Promise<number> {
  const { rows } = await sql<{ ended: number }>`
    select count(pg_terminate_backend(pid))::int as ended from pg_stat_activity
    where datname = current_database() and application_name = ${applicationName} and state = 'active'`.execute(db);
  return rows[0]?.ended ?? 0;
}

describe.each(bothQueues)("a night with its queue in %s", { timeout: 120_000 }, (store) => {
  it("is completed, with nobody parked, by a worker whose connections are ended again and again", async () => {
    await using night = await planNight({ store, restaurants: 300 });
    const worker = await night.startWorker("stormy", {
      WORKER_CONCURRENCY: "10",
      BATCH_SIZE: "5",
      LOCK_TIMEOUT_MS: "30000",
    });
    const release = await enqueueHeld(night, ["stormy"]);
    let ended = 0;
    for (let storm = 0; storm < 5 || ended < 5; storm += 1) {
      await until(async () => expect(await waitingStatements(night, "stormy")).toBeGreaterThan(0));
      ended += await endSessions(night, "stormy");
    }
    await release();
    await until(async () => {
      if (ended < 25) ended += await endSessions(night, "stormy");
      expect(await night.applied()).toBe(300);
    });
    expect(ended).toBeGreaterThanOrEqual(5);

    await night.finished(300);
    await expectExact(night);
    await expectNobodyBlamed(night);
    expect(worker.log.filter(({ level }) => level === "error" || level === "fatal")).toEqual([]);
  });

  it("is completed around a key whose row is locked for long, which is applied when the lock is gone", async () => {
    await using night = await planNight({ store, restaurants: 100 });
    await night.startWorker("patient", { LOCK_TIMEOUT_MS: "100" });
    const locked = Promise.withResolvers<void>();
    const unlock = Promise.withResolvers<void>();
    const holding = night.database.session(async (session) => {
      await session.query("begin");
      await session.query("select 1 from nightwriter.key_total where key = 'r0050' for update");
      locked.resolve();
      await unlock.promise;
      await session.query("rollback");
    });
    await locked.promise;

    await night.enqueue();
    await until(async () => expect(await night.applied()).toBe(99));
    unlock.resolve();
    await holding;

    await night.finished(100);
    await expectExact(night);
    await expectNobodyBlamed(night);
  });
});

describe("a night", { timeout: 120_000 }, () => {
  it("is completed, with nobody parked, by a worker whose Postgres crashes and comes back", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "nightwriter-weather-"));
    await using first = await startPostgres({ dataDir: folder.path });
    const { dataDir, port } = first;
    await using stack = new AsyncDisposableStack();
    {
      await using database = openDatabase({ url: first.url, applicationName: "test", max: 1 });
      await migrateToLatest(database);
    }
    const night = stack.use(await planNight({ store: "redis", restaurants: 200, databaseUrl: first.url }));
    const worker = await night.startWorker("waiting", { LOCK_TIMEOUT_MS: "30000" });
    const release = await enqueueHeld(night, ["waiting"]);

    await first.stop({ mode: "immediate" });
    await release().catch(() => undefined);
    await worker.waitForLog(({ msg }) => msg === "batch met weather: trying again");
    const second = stack.use(await startPostgres({ dataDir, port }));
    expect(second.url).toBe(first.url);

    await night.finished(200);
    await expectExact(night);
    await expectNobodyBlamed(night);
  });

  it("is completed by a worker whose Redis is killed with work in hand and comes back", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "nightwriter-weather-"));
    const password = "the-same-after-a-restart";
    // What is enqueued is written out before that is said: this night has no scheduler to enqueue it again.
    const args = ["--requirepass", password, "--appendfsync", "always"];
    await using first = await startRedis({ dir: folder.path, args });
    const { dir, port } = first;
    await using stack = new AsyncDisposableStack();
    const queueUrl = `redis://default:${password}@127.0.0.1:${port}`;
    const night = stack.use(await planNight({ store: "redis", restaurants: 300, queueUrl }));
    const worker = await night.startWorker("unplugged", { WORKER_CONCURRENCY: "10", BATCH_SIZE: "10" });
    const release = await enqueueHeld(night, ["unplugged"]);

    await first.kill();
    await release();
    await until(async () => expect(await night.applied()).toBeGreaterThan(0));
    stack.use(await startRedis({ dir, port, args }));

    await night.finished(300, 60_000);
    await expectExact(night);
    expect(worker.log.filter(({ level }) => level === "error" || level === "fatal")).toEqual([]);
  });
});
