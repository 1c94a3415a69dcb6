/** Which source query is in force: who brings one in, who only looks, and how one comes back. */
import { type Actor, recordAudit } from "@nightwriter/audit";
import { invariant } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import {
  codeVersionOf,
  deployJob,
  ensureJob,
  getJob,
  type Job,
  type JobDefinition,
  registerJob,
} from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { ensureNightlyRun } from "@nightwriter/run";
import { testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";

const AT_ONCE = 10;

/** The shipped job, whose query keeps back a fee. */
function withFee(fee: number, queryVersion: number): JobDefinition {
  return {
    ...restaurantTotals,
    queryVersion,
    source: {
      kind: "stamped",
      rows: (db) =>
        db
          .selectFrom("sales.sale")
          .select(["restaurant_id as key", "business_date", "xid", "epoch"])
          .select(sql<bigint>`amount_minor - ${sql.lit(fee)}`.as("amount_minor")),
    },
  };
}

const first = restaurantTotals;
const second = withFee(1, 2);

/** `1=1 2=2?`: each stored number with the code's, and a mark where nobody knows the hash. */
async function historyOf({ db }: Database): Promise<string> {
  const rows = await db.selectFrom("nightwriter.job_version").selectAll().orderBy("query_version").execute();
  return rows.map((row) => `${row.query_version}=${row.code_version}${row.query_hash === null ? "?" : ""}`).join(" ");
}

/** How often any row of the job's tables was written, and the rows as they are. */
async function traces({ db }: Database): Promise<unknown> {
  const { rows } = await sql`
    select 'job' as what, xmin::text, to_jsonb(it) as row from nightwriter.job it
    union all select 'version', xmin::text, to_jsonb(it) from nightwriter.job_version it
    union all select 'term', xmin::text, to_jsonb(it) from nightwriter.partition_term it`.execute(db);
  return rows;
}

const person: Actor = { name: "ada", host: "desk" };

async function deploy(database: Database, definition: JobDefinition, reason = "test"): Promise<Job> {
  const { after } = await deployJob(database, definition, {
    reason,
    changed: (transaction, jobs) =>
      recordAudit(transaction, {
        actor: person,
        verb: "jobs deploy",
        jobId: jobs.after.id,
        reason,
        before: jobs.before.queryVersion,
        after: jobs.after.queryVersion,
      }),
  });
  return after;
}

describe("getJob and ensureJob", () => {
  it("change nothing of a job that is there, from any checkout, and say that another query is in force", async () => {
    await using test = await testDatabase();
    await registerJob(test.database, first);
    const before = await traces(test.database);
    for (const definition of [first, second, withFee(2, 1)]) {
      const isCurrent = definition === first;
      expect(await getJob(test.database, definition)).toMatchObject({ isCurrent, id: 1, partitionCount: 16 });
      expect(await ensureJob(test.database, definition)).toMatchObject({ isCurrent });
    }
    expect(await traces(test.database)).toEqual(before);
  });

  it("answer for a job that nobody has made: one looks at a job that has done nothing, the other makes it", async () => {
    await using test = await testDatabase();
    expect(await getJob(test.database, first)).toMatchObject({ id: 0, partitionCount: 16, isCurrent: true });
    expect(await historyOf(test.database)).toBe("");
    expect(await ensureJob(test.database, first)).toMatchObject({ id: 1, isCurrent: true, queryVersion: 1 });
    expect(await historyOf(test.database)).toBe("1=1?");
  });

  it("leave a plan to the builds whose query is in force", async () => {
    await using test = await testDatabase();
    const job = await registerJob(test.database, first);
    const date = Temporal.PlainDate.from("2026-03-01");
    await registerJob(test.database, second);
    await expect(ensureNightlyRun(test.database, job, date)).rejects.toMatchObject({ code: "query_version_differs" });
    const looked = await ensureJob(test.database, first);
    await expect(ensureNightlyRun(test.database, looked, date)).rejects.toMatchObject({
      code: "query_version_differs",
    });
    expect(await test.db.selectFrom("nightwriter.run").selectAll().execute()).toEqual([]);
  });
});

describe("registerJob", () => {
  it("brings in a query that was never stored and is above all that were, and refuses the replaced one", async () => {
    await using test = await testDatabase();
    await registerJob(test.database, first);
    expect(await registerJob(test.database, second)).toMatchObject({ queryVersion: 2, otherVersions: [1] });
    await expect(registerJob(test.database, first)).rejects.toMatchObject({
      code: "query_version_differs",
      message: expect.stringContaining("nightwriter jobs deploy"),
    });
    expect(await historyOf(test.database)).toBe("1=1 2=2");
  });

  it("refuses a changed query whose number was not raised", async () => {
    await using test = await testDatabase();
    await registerJob(test.database, first);
    const changed = withFee(1, first.queryVersion);
    await expect(registerJob(test.database, changed)).rejects.toMatchObject({
      code: "query_version_reused",
      message: expect.stringContaining("raise queryVersion"),
    });
    await expect(deploy(test.database, changed)).rejects.toMatchObject({ code: "query_version_reused" });
    expect(await historyOf(test.database)).toBe("1=1");
  });

  it("gives a hash that nobody knew to one of many builds that claim the number at once", async () => {
    await using test = await testDatabase({ max: AT_ONCE });
    await ensureJob(test.database, first);
    const builds = Array.from({ length: AT_ONCE }, (_, index) => withFee(index, 1));
    const outcomes = await Promise.allSettled(builds.map((build) => registerJob(test.database, build)));
    const registered = outcomes.filter((outcome) => outcome.status === "fulfilled");
    expect(registered).toHaveLength(1);
    const winner = builds[outcomes.findIndex(({ status }) => status === "fulfilled")];
    invariant(winner !== undefined, "one was registered");
    const { query_hash } = await test.db
      .selectFrom("nightwriter.job_version")
      .select("query_hash")
      .executeTakeFirstOrThrow();
    expect(query_hash).toBe(codeVersionOf(winner).queryHash);
  });

  it("knows a query that a build without hashes has brought in, by its number", async () => {
    await using test = await testDatabase();
    // What such a build does: it makes the row, and raises the number when its own is higher.
    await sql`insert into nightwriter.job (name, partition_count, query_version, fencing_token)
      values (${first.name}, 16, 1, 1)`.execute(test.db);
    expect(await historyOf(test.database)).toBe("1=1?");
    await sql`update nightwriter.job set query_version = 2 where query_version < 2`.execute(test.db);
    expect(await historyOf(test.database)).toBe("1=1? 2=2?");
    await expect(registerJob(test.database, first)).rejects.toMatchObject({ code: "query_version_differs" });
    expect(await registerJob(test.database, second)).toMatchObject({ queryVersion: 2, isCurrent: true });
    expect(await historyOf(test.database)).toBe("1=1? 2=2");
  });
});

describe("deployJob", () => {
  it("brings a replaced query back under a new number, audited, and shuts out whoever sums by an older one", async () => {
    await using test = await testDatabase();
    const old = await registerJob(test.database, first);
    await registerJob(test.database, second);
    const back = await deploy(test.database, first, "fees were counted twice");
    expect(back).toMatchObject({ queryVersion: 3, otherVersions: [2], isCurrent: true });
    expect(await historyOf(test.database)).toBe("1=1 2=2 3=1");
    expect(await test.db.selectFrom("nightwriter.audit_log").selectAll().execute()).toMatchObject([
      { verb: "jobs deploy", actor: "ada", reason: "fees were counted twice", before: 1, after: 3 },
    ]);
    await expect(registerJob(test.database, second)).rejects.toMatchObject({ code: "query_version_differs" });
    await expect(ensureNightlyRun(test.database, old, Temporal.PlainDate.from("2026-03-01"))).rejects.toMatchObject({
      code: "query_version_differs",
    });
    // Started anew, the same code sums under the new number; and the next query goes above it.
    expect(await registerJob(test.database, first)).toMatchObject({ queryVersion: 3 });
    expect(await registerJob(test.database, withFee(2, 3))).toMatchObject({
      queryVersion: 4,
      otherVersions: [1, 2, 3],
    });
  });

  it("changes and records nothing when the query is in force already", async () => {
    await using test = await testDatabase();
    await registerJob(test.database, first);
    const before = await traces(test.database);
    await deploy(test.database, first);
    expect(await traces(test.database)).toEqual(before);
    expect(await test.db.selectFrom("nightwriter.audit_log").selectAll().execute()).toEqual([]);
  });

  it("changes nothing when the record of it cannot be written", async () => {
    await using test = await testDatabase();
    await registerJob(test.database, first);
    await registerJob(test.database, second);
    const failing = deployJob(test.database, first, {
      reason: "test",
      changed: (transaction) => recordAudit(transaction, { actor: person, verb: null as never }),
    });
    await expect(failing).rejects.toMatchObject({ sqlstate: "23502" });
    expect(await historyOf(test.database)).toBe("1=1 2=2");
  });
});

describe("the stored number", () => {
  it.for([
    ["falls", "update nightwriter.job set query_version = 1"],
    ["is rewritten", "update nightwriter.job_version set code_version = 7 where query_version = 2"],
    ["has its hash changed", "update nightwriter.job_version set query_hash = repeat('0', 64)"],
    ["is forgotten", "delete from nightwriter.job_version"],
    ["is forgotten altogether", "truncate nightwriter.job_version"],
  ] as const)("never %s", async ([, statement]) => {
    await using test = await testDatabase();
    await registerJob(test.database, first);
    await registerJob(test.database, second);
    await expect(sql.raw(statement).execute(test.db)).rejects.toMatchObject({ code: "23001" });
    expect(await historyOf(test.database)).toBe("1=1 2=2");
  });
});
