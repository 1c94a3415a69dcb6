/** `jobs`, and what looks from a checkout whose source query is not the one in force. */
import { getJob, type JobDefinition, registerJob } from "@nightwriter/job";
import { verify } from "@nightwriter/ledger";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { makeRestaurants, recordSales } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { documentOf, type Installation, installation, type Ran } from "./fixture.ts";

/** Of a newer checkout. */
const newer: JobDefinition = { ...restaurantTotals, queryVersion: restaurantTotals.queryVersion + 1 };

const looks = [["status"], ["total", "r0001"], ["partitions"], ["jobs"], ["verify"]] as const;
const unproved = ["delta-from-snapshot", "entries-equal-sources"];

/** Recorded here, since each verb is a process. */
async function sell({ database: { db } }: Installation): Promise<void> {
  await makeRestaurants(db, 2);
  const sales = ["r0001", "r0002"].map((restaurant) => ({ restaurant, businessDate: "2026-03-15", amountMinor: 100n }));
  await recordSales(db, sales);
}

/** Brings in a newer checkout's query after this one's. */
async function replaceQuery({ database }: Installation): Promise<void> {
  await registerJob(database, restaurantTotals);
  await registerJob(database, newer);
}

const notInForce = /query version 1 \(query [0-9a-f]{8}\) is not the one in force, 2 /;
const neverRan: Ran = { code: undefined, stdout: "", stderr: "" };

/** Every verb that looks, at once. */
async function lookAll({ run }: Installation): Promise<[verb: string, ran: Ran][]> {
  return Promise.all(looks.map(async (words) => [words[0], await run(...words, "--json")]));
}

/** What the looks could have written: every table's rows, and who wrote them. */
async function traces({ database: { db } }: Installation): Promise<unknown> {
  const tables = ["job", "job_version", "partition_term", "run", "run_item", "key_total", "ledger_entry", "worker"];
  return Promise.all(
    tables.map(async (name) => {
      const { rows } = await sql`select xmin::text, to_jsonb(it) as row from ${sql.table(`nightwriter.${name}`)} as it
        order by 2`.execute(db);
      return [name, rows];
    }),
  );
}

describe("looking", () => {
  it("answers and writes nothing in a database that nobody has planned in", async () => {
    await using made = await installation();
    await sell(made);
    const before = await traces(made);
    for (const [verb, ran] of await lookAll(made)) expect(ran, verb).toMatchObject({ code: 0, stderr: "" });
    expect(await traces(made)).toEqual(before);
  });

  it("from a newer checkout leaves a running worker alone", async () => {
    await using made = await installation();
    await sell(made);
    const worker = await made.startWorker();
    const job = await getJob(made.database, newer);
    expect(job.isCurrent).toBe(false);
    await verify(made.database, job, { now: Temporal.Instant.from("2030-01-01T00:00:00Z") });
    expect(await made.run("run", "--date", "2026-03-15", "--wait")).toMatchObject({ code: 0 });
    expect(worker.pid).toBeGreaterThan(0);
    expect((await made.run("verify")).code).toBe(0);
  });

  it("says that another query is in force, proves what asks no source, and leaves the rest to a build of that query", async () => {
    await using made = await installation();
    await sell(made);
    await replaceQuery(made);
    const before = await traces(made);
    const ran = new Map(await lookAll(made));
    expect([...ran].filter(([, { code }]) => code === 3).map(([verb]) => verb)).toEqual(["jobs", "verify"]);
    expect(documentOf(ran.get("verify") ?? neverRan)).toMatchObject({ clean: true, unproved });
    const said = [...ran].map(([verb, { stderr }]) => ({ verb, isSaid: notInForce.test(stderr) }));
    // `jobs` has it in its document.
    expect(said.filter(({ isSaid }) => !isSaid)).toEqual([{ verb: "jobs", isSaid: false }]);
    expect(await traces(made)).toEqual(before);
  });

  it("is all that may be done from there: whoever would sum or plan is refused, and says what mends it", async () => {
    await using made = await installation();
    await replaceQuery(made);
    const before = await traces(made);
    const refused = await Promise.all(
      [["run", "--date", "2026-03-15"], ["worker"], ["scheduler"]].map((verb) => made.run(...verb)),
    );
    for (const { code, stderr } of refused) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/nightwriter jobs deploy/);
    }
    expect(await traces(made)).toEqual(before);
  });
});

describe("jobs deploy", () => {
  it("brings this checkout's query back, with its reason, and says before under which number", async () => {
    await using made = await installation();
    await replaceQuery(made);
    expect(documentOf(await made.run("jobs", "--json"))).toMatchObject({
      jobs: [{ job: "restaurant-totals", current: false, queryVersion: 2, build: { number: 1 } }],
    });
    const would = await made.run("jobs", "deploy", "--dry-run", "--reason", "rollback", "--json");
    expect(documentOf(would)).toMatchObject({ dryRun: true, changed: false, before: 2, after: 3 });
    expect((await made.run("jobs")).code).toBe(3);
    const done = await made.run("jobs", "deploy", "--reason", "rollback");
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toMatch(
      /^restaurant-totals: query version 1 \(query [0-9a-f]{8}\) is in force from now on, stored as 3/,
    );
    const again = await made.run("jobs", "deploy", "--reason", "rollback", "--json");
    expect(documentOf(again)).toMatchObject({ changed: false, before: 3, after: 3 });
    expect((await made.run("jobs")).code).toBe(0);
    const { db } = made.database;
    expect(await db.selectFrom("nightwriter.audit_log").selectAll().execute()).toMatchObject([
      { verb: "jobs deploy", reason: "rollback", before: { queryVersion: 2 }, after: { queryVersion: 3 } },
    ]);
  });

  it("asks for a reason", async () => {
    await using made = await installation();
    expect(await made.run("jobs", "deploy")).toMatchObject({ code: 2, stdout: "" });
    const blank = await made.run("jobs", "deploy", "--reason", " ");
    expect(blank).toMatchObject({ code: 2, stdout: "" });
    expect(blank.stderr).toMatch(/--reason/);
  });
});
