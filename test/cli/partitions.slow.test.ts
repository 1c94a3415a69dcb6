import type { Database } from "@nightwriter/database";
import { registerJob } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { businessDateOf, dueAt } from "@nightwriter/schedule";
import { startRedis } from "@nightwriter/services";
import { advisoryWaiter, heldBack, makeRestaurants, recordSales, spawnApp } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { documentOf, ENTRY, type Installation, importBoth, installation } from "./fixture.ts";

interface PartitionsDocument {
  readonly partitionCount: number;
  readonly workers: readonly { readonly name: string }[];
  readonly leases: object;
  readonly partitions: readonly {
    readonly holder: string | null;
    readonly alive: boolean;
    readonly host: string | null;
    readonly pid: number | null;
    readonly fencingToken: string;
    readonly since: string | null;
    readonly leaseLeftMs: number | null;
    readonly due: number;
    readonly waiting: number;
    readonly active: number;
    readonly lastEntryAt: string | null;
    readonly abandoned: boolean;
  }[];
}

async function partitionsOf({ run }: Installation): Promise<PartitionsDocument> {
  return documentOf(await run("partitions", "--json")) as PartitionsDocument;
}

/** Waits until every partition is in the hands of a live worker. */
async function allHeld(made: Installation, partitionCount: number): Promise<PartitionsDocument> {
  let seen: PartitionsDocument | undefined;
  await expect
    .poll(
      async () => {
        seen = await partitionsOf(made);
        return seen.partitions.filter(({ alive, since }) => alive && since !== null).length;
      },
      { timeout: 60_000, interval: 100 },
    )
    .toBe(partitionCount);
  if (seen === undefined) throw new Error("never looked");
  return seen;
}

/** One more night is due and missing from now on: the job was registered a day earlier. All keys have sales on its date. */
async function addNight(
  database: Database,
  { nights, keys }: { nights: number; keys: readonly string[] },
): Promise<void> {
  const job = await registerJob(database, restaurantTotals);
  const date = businessDateOf(job, Temporal.Now.instant())?.subtract({ days: nights - 1 });
  const due = date && dueAt(job, date);
  if (date === undefined || due === undefined) throw new Error("the job has a night every day");
  const sales = keys.map((restaurant) => ({ restaurant, businessDate: date.toString(), amountMinor: 100 * nights }));
  await recordSales(database.db, sales);
  await sql`update nightwriter.job set created_at = ${due.toString()}::timestamptz - interval '1 minute'`.execute(
    database.db,
  );
}

async function finishedNights({ db }: Database): Promise<number> {
  const runs = await db.selectFrom("nightwriter.run").select("id").where("finished_at", "is not", null).execute();
  return runs.length;
}

/** How many partitions the items of each run are in, in the order of the runs, and how many entries they have. */
async function spreads({ db }: Database): Promise<unknown[]> {
  const { rows } = await sql`
    select count(distinct it.partition)::int as partitions, count(e.key)::int as entries
    from nightwriter.run_item it left join nightwriter.ledger_entry e using (run_id, business_date, key)
    group by it.run_id order by it.run_id`.execute(db);
  return rows;
}

const short = { LEASE_MS: "2000", LOG_FORMAT: "json" };

describe("nightwriter partitions", { timeout: 180_000 }, () => {
  it("shows holder, host and pid, token, since when, lease, queue and last entry of each", async () => {
    await using made = await installation("redis", { LOG_FORMAT: "json" });
    await importBoth(made);
    const worker = await made.startWorker();
    expect((await made.run("run", "--date", "2026-03-14", "--wait")).code).toBe(0);
    await expect
      .poll(
        async () => (await partitionsOf(made)).partitions.filter(({ lastEntryAt }) => lastEntryAt !== null).length,
        {
          timeout: 30_000,
        },
      )
      .toBe(2);

    const { partitions, ...whole } = await allHeld(made, 16);
    expect(whole).toMatchObject({
      job: "restaurant-totals",
      partitionCount: 16,
      workers: [{ name: "cli-test", pid: worker.pid }],
      leases: { state: "seen", store: expect.stringMatching(/^redis/), reason: null },
    });
    expect(new Set(partitions.map(({ fencingToken }) => fencingToken)).size).toBe(16);
    for (const each of partitions) {
      expect(each).toMatchObject({ holder: "cli-test", pid: worker.pid, waiting: 0, active: 0, abandoned: false });
      expect(each.host).not.toBeNull();
      expect(each.leaseLeftMs).toBeGreaterThan(0);
      expect(each.leaseLeftMs).toBeLessThanOrEqual(10_000);
    }

    const table = await made.run("partitions");
    expect(table.code).toBe(0);
    expect(table.stdout).toMatch(/^16 partitions, 1 live worker, leases in redis/);
    expect(table.stdout.match(new RegExp(` cli-test .* ${worker.pid} `, "g"))).toHaveLength(16);
  });

  it("ends with 3 where work waits and nobody is there to do it, and says which partitions these are", async () => {
    await using made = await installation("redis", short);
    await importBoth(made);
    expect((await made.run("partitions")).code).toBe(0);
    expect((await made.run("run", "--date", "2026-03-14")).code).toBe(0);
    const ran = await made.run("partitions");
    expect(ran.code).toBe(3);
    expect(ran.stdout).toMatch(/0 live workers/);
    expect(ran.stdout).toMatch(/work waits in partitions \d+, \d+, which no live worker holds; start a worker/);
    const { partitions } = await partitionsOf(made);
    expect(partitions.filter(({ abandoned }) => abandoned)).toMatchObject([
      { waiting: 1, holder: null, alive: false },
      { waiting: 1, holder: null, alive: false },
    ]);
  });

  it("ends with 3 when the holder of a partition with work is dead, before its lease is over", async () => {
    await using made = await installation("redis", { ...short, LEASE_MS: "60000" });
    await importBoth(made);
    const worker = await made.startWorker();
    await allHeld(made, 16);
    worker.signal("SIGKILL");
    await worker.exited;
    await sql`update nightwriter.worker set seen_at = seen_at - interval '1 minute'`.execute(made.database.db);
    expect((await made.run("run", "--date", "2026-03-14")).code).toBe(0);
    const ran = await made.run("partitions");
    expect(ran.code).toBe(3);
    expect(ran.stdout).toContain("cli-test (not alive)");
  });

  it("shows what is due beside what waits, and ends with 3 when the queue has forgotten it or is of no use", async () => {
    await using redis = await startRedis();
    await using made = await installation("redis", {
      ...short,
      QUEUE_URL: redis.url,
      LEASE_URL: "none",
      RECONCILE_INTERVAL_MS: "100",
    });
    await importBoth(made);
    expect((await made.run("run", "--date", "2026-03-14")).code).toBe(0);
    const dueOf = async (): Promise<number> =>
      (await partitionsOf(made)).partitions.reduce((sum, { due }) => sum + due, 0);
    expect(await dueOf()).toBe(2);

    await redis.ask("flushall");
    const forgotten = await made.run("partitions");
    expect(forgotten.code).toBe(3);
    expect(forgotten.stdout).toMatch(
      /items are due and not in the queue in partitions \d+, \d+; a scheduler puts them back/,
    );

    await redis.ask("config", "set", "maxmemory", "1");
    const full = await made.run("partitions", "--json");
    expect(full.code, full.stderr).toBe(3);
    expect(documentOf(full)).toMatchObject({
      queue: { state: "unusable", reason: expect.stringMatching(/^queue redis at .*OOM.*make room in it$/) },
    });
    expect(await dueOf()).toBe(2);
  });

  it("says so when leases are switched off, and when their store is away", async () => {
    await using made = await installation("redis", { ...short, LEASE_URL: "none" });
    const off = await made.run("partitions");
    expect(off.stdout).toMatch(
      /^16 partitions, 0 live workers, leases switched off: every worker consumes every partition/,
    );
    expect(documentOf(await made.run("partitions", "--json"))).toMatchObject({ leases: { state: "none" } });

    await using away = await installation("redis", { ...short, LEASE_URL: "redis://127.0.0.1:1" });
    const ran = await away.run("partitions");
    expect(ran.stdout).toMatch(/lease store away, holders as their terms say: /);
    expect(ran.stderr).toBe("");
  });

  it("says in one line what is wrong with the store that LEASE_URL names", async () => {
    await using made = await installation("redis", { ...short, LEASE_URL: "redis+redlock://a:6379,b:6379" });
    const ran = await made.run("partitions");
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/^nightwriter: URL of the lease store: 2 hosts; [^\n]*\n?$/);
  });

  it("tells with --watch of each partition that changes hands, until Ctrl-C", async () => {
    await using made = await installation("redis", short);
    const watching = await spawnApp(ENTRY, made.settings, { args: ["partitions", "--watch"] });
    await watching.waitForLog(({ msg }) => msg === "partition 15: nobody, token 0", 60_000);
    await made.startWorker();
    await watching.waitForLog(({ msg = "" }) => /^partition 7: cli-test, token [1-9]\d*$/.test(msg), 60_000);
    watching.signal("SIGINT");
    expect(await watching.exited).toEqual({ code: 0, signal: null });
    expect(watching.log.some(({ msg = "" }) => /^16 partitions, \d live workers?, leases in redis/.test(msg))).toBe(
      true,
    );
  });
});

describe("nightwriter partitions resize", { timeout: 300_000 }, () => {
  it("gives 16, 8 and 32 partitions between nights, while a scheduler and workers run on", async () => {
    await using made = await installation("redis", {
      ...short,
      CATCH_UP_DAYS: "6",
      CATCH_UP_INTERVAL_MS: "500",
      RECONCILE_INTERVAL_MS: "500",
    });
    const { db } = made.database;
    const keys = await makeRestaurants(db, 200);
    await made.run("status");
    await using scheduler = await spawnApp("apps/scheduler/src/main.ts", made.settings);
    await using second = await spawnApp("apps/worker/src/main.ts", { ...made.settings, WORKER_NAME: "second" });
    const first = await made.startWorker();
    await second.waitForLog(({ msg }) => msg === "worker ready", 50_000);

    for (const [index, count] of [16, 8, 32].entries()) {
      const nights = index + 1;
      const resized = await made.run("partitions", "resize", "--count", String(count), "--json");
      expect(resized.code, resized.stderr).toBe(0);
      expect(documentOf(resized)).toMatchObject({ changed: count !== 16, after: count, movedItems: 0 });
      expect(resized.stderr.includes("partitions resized")).toBe(count !== 16);
      await addNight(made.database, { nights, keys });
      await expect.poll(() => finishedNights(made.database), { timeout: 90_000, interval: 200 }).toBe(nights);
      await allHeld(made, count);
      const holders = async () => new Set((await partitionsOf(made)).partitions.map(({ holder }) => holder));
      await expect.poll(holders, { timeout: 60_000, interval: 200 }).toEqual(new Set(["cli-test", "second"]));
    }
    const verified = await made.run("verify");
    expect(verified.code, verified.stdout).toBe(0);
    for (const app of [scheduler, first, second]) {
      app.signal("SIGTERM");
      expect(await app.exited).toEqual({ code: 0, signal: null });
    }
    expect(await spreads(made.database)).toEqual(
      [16, 8, 32].map((partitions) => ({ partitions, entries: keys.length })),
    );
  });

  it("changes nothing where the count is that one already", async () => {
    await using made = await installation("redis", short);
    const ran = await made.run("partitions", "resize", "--count", "16");
    expect(ran).toMatchObject({ code: 0, stdout: "restaurant-totals: has 16 partitions already; nothing was changed" });
    expect(documentOf(await made.run("partitions", "resize", "--count", "16", "--json"))).toMatchObject({
      changed: false,
      before: 16,
      after: 16,
    });
  });

  it("is refused in the middle of a run, with what is due in which", async () => {
    await using made = await installation("redis", short);
    await importBoth(made);
    await made.run("run", "--date", "2026-03-14");
    const ran = await made.run("partitions", "resize", "--count", "8", "--json");
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/items are due in run 1 \(2\); partitions are resized when nothing is in flight/);
    expect(documentOf(ran)).toMatchObject({
      error: { code: "items_in_flight", details: { job: "restaurant-totals", runs: "1", due: "2" } },
    });
    expect((await partitionsOf(made)).partitionCount).toBe(16);
    await made.startWorker();
    expect((await made.run("status", "--watch")).code).toBe(0);
    expect((await made.run("partitions", "resize", "--count", "8")).code).toBe(0);
  });

  it("waits for a planner that is under way, and sees what it planned", async () => {
    await using made = await installation("redis", short);
    await importBoth(made);
    await using blocked = await heldBack(made.database);
    await blocked.run("lock table nightwriter.run_item in exclusive mode");
    const planning = made.run("run", "--date", "2026-03-14");
    await blocked.waitedFor();
    const resizing = made.run("partitions", "resize", "--count", "8");
    await Promise.race([advisoryWaiter(made.database.db), resizing]);
    await blocked.rollback();
    expect((await planning).code).toBe(0);
    expect(await resizing).toMatchObject({ code: 1, stderr: expect.stringContaining("items are due in run 1 (2)") });
  });

  it.each(["0", "1025", "many"])("refuses %s partitions", async (count) => {
    await using made = await installation("redis");
    const ran = await made.run("partitions", "resize", "--count", count);
    expect(ran.code).toBe(2);
  });
});
