/**
 * Two workers without leases, and two runs that want the same (key, date): each worker has the first item of each partition in a
 * statement that has read the same totals and waits for the same rows. What the version check is there for.
 */

import { heldBack, type MutatedBuild } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type Night, planNight, until, waitingStatements } from "../worker/night.ts";
import { partitionCount, violations } from "./fleet.ts";
import { planted, withoutVersionCheck } from "./planted.ts";

/** A run as no planner would make it while the other has still to apply its items; ids of both, the night's first. */
async function rivalRun({ db, runId }: Night): Promise<readonly [bigint, bigint]> {
  const { rows } = await sql<{ id: bigint }>`
    insert into nightwriter.run (job_id, business_date, kind, request_id, planned_at)
    select job_id, business_date, 'manual', 'rival', now() from nightwriter.run where id = ${runId} returning id`.execute(
    db,
  );
  const [rival] = rows;
  if (rival === undefined) throw new Error("no rival run was made");
  await sql`
    insert into nightwriter.run_item (run_id, business_date, key, partition)
    select ${rival.id}, business_date, key, partition from nightwriter.run_item where run_id = ${runId}`.execute(db);
  return [runId, rival.id];
}

/** Each key's items of both runs, one behind the other. */
async function enqueueBoth({ db, partitions }: Night, runs: readonly bigint[]): Promise<void> {
  const items = await db
    .selectFrom("nightwriter.run_item")
    .select(["run_id", "business_date", "key", "partition"])
    .where("run_id", "in", runs)
    .orderBy("key")
    .orderBy("run_id")
    .execute();
  for (const queue of partitions) {
    const own = items.filter(({ partition }) => partition === queue.partition);
    await queue.enqueue(
      own.map(({ run_id, key, business_date }) => ({
        runId: run_id.toString(),
        key,
        businessDate: business_date,
        generation: 0,
      })),
    );
  }
}

/** By how much the totals are more than the sales, in minor units. */
async function surplus({ db }: Night): Promise<bigint> {
  const { rows } = await sql<{ surplus: bigint }>`
    select ((select sum(total_minor) from nightwriter.key_total) - (select sum(amount_minor) from sales.sale))::bigint as surplus`.execute(
    db,
  );
  return rows[0]?.surplus ?? 0n;
}

interface Ending {
  readonly surplusMinor: bigint;
  readonly violations: readonly string[];
}

async function race(build: MutatedBuild | undefined): Promise<Ending> {
  await using night = await planNight({ store: "redis", restaurants: 100 });
  const runs = await rivalRun(night);
  await using rows = await heldBack(night.database);
  await rows.run("select from nightwriter.key_total for update");
  const settings = {
    LEASE_URL: "none",
    WORKER_CONCURRENCY: "1",
    DATABASE_POOL_SIZE: String(partitionCount),
    LOCK_TIMEOUT_MS: "30000",
    ...build?.environment,
  };
  const workers = await Promise.all(["left", "right"].map((name) => night.startWorker(name, settings)));
  for (const worker of workers) await build?.loadedBy(worker);
  await enqueueBoth(night, runs);
  await until(async () => {
    for (const name of ["left", "right"]) expect(await waitingStatements(night, name)).toBe(partitionCount);
  }, 30_000);
  await rows.rollback();
  await night.finished(2 * night.keys.length, 60_000);
  return { surplusMinor: await surplus(night), violations: await violations(night) };
}

describe("two workers with two runs of the same keys and date", { timeout: 180_000 }, () => {
  it("add each sale once", async () => {
    expect(await race(undefined)).toEqual({ surplusMinor: 0n, violations: [] });
  });

  it("add sales twice in a build that does not check the version, and verify says so", async () => {
    const ending = await race(planted(withoutVersionCheck));
    expect(ending.surplusMinor).toBeGreaterThan(0n);
    expect(ending.violations.some((line) => line.includes("entries-equal-sources"))).toBe(true);
  });
});
