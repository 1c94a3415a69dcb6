import type { Database } from "@nightwriter/database";
import { registerJob } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { documentOf, installation, nightwriter } from "./fixture.ts";

describe("nightwriter lease plan with options", { timeout: 60_000 }, () => {
  const lesson = ["--lease", "30s", "--p99", "20s", "--slow-share", "1%", "--runs", "1000"];
  const store = ["--grants-per-second", "2", "--replication-delay", "400ms", "--compare-lease", "10m"];

  it("prints the lesson's numbers, and needs no database", async () => {
    const { code, stdout, stderr } = await nightwriter(["lease", "plan", ...lesson, ...store]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/never renewed +10 of 1,000\n/);
    expect(stdout).toMatch(/renewed every 10 s +0 of 1,000\n/);
    expect(stdout).toMatch(/longest wait after a crash +30 s +600 s, 20 times longer\n/);
    expect(stdout).toMatch(/not yet copied at a failover +0\.8 /);
    expect(stdout).toContain("recommended: lease 30 s, renewed every 10 s, not trusted in its last 3 s\nbecause: ");
  });

  it("answers the same as one document", async () => {
    const ran = await nightwriter(["lease", "plan", ...lesson, ...store, "--json"]);
    expect(documentOf(ran)).toMatchObject({
      source: "options",
      plan: {
        renewalMs: 10_000,
        outliveWithoutRenewal: 10,
        outliveWithRenewal: 0,
        longestWaitMs: 30_000,
        compared: { longestWaitMs: 600_000, ratio: 20 },
        grantsNotCopied: 0.8,
        recommendation: { leaseMs: 30_000, renewalMs: 10_000, marginMs: 3_000 },
      },
    });
  });

  it("prints those of 5,000 locks too", async () => {
    const locks = ["--lease", "20s", "--slow-share", "1%", "--runs", "5000", "--compare-lease", "15m"];
    const { stdout } = await nightwriter(["lease", "plan", ...locks]);
    expect(stdout).toMatch(/never renewed +50 of 5,000\n/);
    expect(stdout).toMatch(/longest wait after a crash +20 s +900 s, 45 times longer\n/);
  });

  it.each([
    [
      ["--lease", "30"],
      "option '--lease <duration>' argument '30' is invalid. Write it as 400ms, 30s, 10m or 1h; see nightwriter lease plan --help",
    ],
    [
      ["--slow-share", "1"],
      "argument '1' is invalid. Write it in percent, from 0% to 100%; see nightwriter lease plan --help",
    ],
    [["--grants-per-second", "many"], "argument 'many' is invalid. Write a number such as 2 or 0.5"],
    [["--lease", "0s"], "It is between 1ms and 24h; see nightwriter lease plan --help"],
  ])("answers %j in one line and ends with 2", async (args, line) => {
    const { code, stdout, stderr } = await nightwriter(["lease", "plan", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(line);
    expect(stderr.split("\n")).toHaveLength(1);
  });
});

describe("nightwriter lease plan with a database", { timeout: 120_000 }, () => {
  it("measures from batch to batch of one worker under one token, and says which of these outlive the lease", async () => {
    await using made = await installation();
    const runId = await recordRun(made.database);
    // A hundred times from batch to batch, one of them slower than the lease; two entries in each batch.
    const seconds = [...Array.from({ length: 100 }, (_, index) => index), 130];
    await recordBatches(made.database, { runId, worker: "w1", token: 2, seconds });
    // The same partition later under another token, and a worker that wrote once: no time of either is between two batches.
    await recordBatches(made.database, { runId, worker: "w1", token: 3, seconds: [900] });
    await recordBatches(made.database, { runId, worker: "w2", token: 4, seconds: [0] });
    const ran = await made.run("lease", "plan", "--lease", "30s", "--json");
    expect(ran.code, ran.stderr).toBe(0);
    expect(documentOf(ran)).toMatchObject({
      source: "ledger",
      measured: { runs: 1, batches: 103, measures: 100, slow: 1, p50Ms: 1_000, p99Ms: 1_000, longestMs: 31_000 },
      plan: { outliveWithoutRenewal: 1, recommendation: { leaseMs: 10_000 } },
    });
  });

  it("says in one line that there is nothing to measure yet, and what to do", async () => {
    await using made = await installation();
    const { code, stdout, stderr } = await made.run("lease", "plan");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      /^nightwriter: job restaurant-totals: no run yet .*say --runs, --slow-share and --p99 instead$/,
    );
  });
});

/** A run of the shipped job with one partition, so that all keys are in it. */
async function recordRun(database: Database): Promise<bigint> {
  const job = await registerJob(database, { ...restaurantTotals, partitionCount: 1 });
  const { id } = await database.db
    .insertInto("nightwriter.run")
    .values({ job_id: job.id, business_date: "2026-03-28", kind: "nightly" })
    .returning("id")
    .executeTakeFirstOrThrow();
  await database.db
    .insertInto("nightwriter.run_item")
    .values({ run_id: id, business_date: "2026-03-28", key: "any", partition: 0 })
    .execute();
  return id;
}

interface Batches {
  readonly runId: bigint;
  readonly worker: string;
  readonly token: number;
  /** When each batch's statement began. */
  readonly seconds: readonly number[];
}

/** Entries as workers write them, two for each batch, with a transaction and a time that are made up. */
async function recordBatches({ db }: Database, { runId, worker, token, seconds }: Batches): Promise<void> {
  await sql`alter table nightwriter.ledger_entry drop constraint if exists ledger_entry_own_stamp`.execute(db);
  await sql`
    insert into nightwriter.ledger_entry (job_id, run_id, key, business_date, delta_minor, source_count, fencing_token,
      version_after, total_after, source_snapshot, xid, worker, applied_at)
    select run.job_id, run.id, format('%s-%s-%s', ${worker}::text, ${token}::int, n * 2 + twin), run.business_date, 1, 1, ${token}::int,
      1, 1, pg_current_snapshot(), (${token}::int * 1000000 + n)::text::xid8, ${worker}::text,
      '2026-03-29T03:30:00Z'::timestamptz + make_interval(secs => second)
    from nightwriter.run, unnest(${seconds}::float8[]) with ordinality as batch(second, n), generate_series(0, 1) as twin
    where run.id = ${runId}::bigint`.execute(db);
}
