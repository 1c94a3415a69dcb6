/** A whole night in which each process and each person is what it is to be, and no more. */
import { randomBytes } from "node:crypto";
import { bothQueues, makeRestaurants, recordSales, spawnApp, testDatabase, testQueue } from "@nightwriter/testkit";
import { type Kysely, sql } from "kysely";
import { describe, expect, it } from "vitest";
import { documentOf, nightwriter, type Ran } from "./fixture.ts";

const date = "2026-03-15";
const largest = 9_223_372_036_854_775_807n;

type Login = "scheduler" | "worker" | "operator" | "auditor";

interface Logins extends AsyncDisposable {
  /** The database's URL for a login that is a member of the role. */
  url(of: Login, url: string): string;
}

/** A login for each role, as a person would make them. */
async function makeLogins(db: Kysely<never>, name: string): Promise<Logins> {
  const password = randomBytes(12).toString("hex");
  const nameOf = (of: Login): string => `${name}_${of}`;
  const all: readonly Login[] = ["scheduler", "worker", "operator", "auditor"];
  for (const of of all) {
    await sql`create role ${sql.id(nameOf(of))} login password ${sql.lit(password)} in role ${sql.id(`nightwriter_${of}`)}`.execute(
      db,
    );
  }
  return {
    url(of, url) {
      const own = new URL(url);
      own.username = nameOf(of);
      own.password = password;
      return own.href;
    },
    async [Symbol.asyncDispose]() {
      for (const of of all) await sql`drop role ${sql.id(nameOf(of))}`.execute(db);
    },
  };
}

describe.each(bothQueues)("with its queue in %s, a night under roles", (store) => {
  it("is planned, applied, parked, run again, looked at and proved", async () => {
    await using test = await testDatabase();
    await using queue = await testQueue(store);
    const isPostgres = store === "postgres";
    const settings = { DATABASE_URL: test.url, QUEUE_URL: queue.url, QUEUE_PREFIX: queue.prefix, LEASE_MS: "10000" };
    expect(await nightwriter(["migrate", "--roles"], settings)).toMatchObject({ code: 0, stderr: "" });
    await using logins = await makeLogins(test.db as never, test.name);
    const as = (of: Login) => ({
      ...settings,
      DATABASE_URL: logins.url(of, test.url),
      ...(isPostgres && { QUEUE_URL: logins.url(of, queue.url) }),
    });
    const run = (of: Login, ...words: string[]): Promise<Ran> => nightwriter(words, as(of));

    await makeRestaurants(test.db, 8);
    await recordSales(
      test.db,
      [100n, largest, largest].map((amountMinor, index) => ({
        restaurant: index === 0 ? "r0001" : "r0002",
        businessDate: date,
        amountMinor,
      })),
    );
    await using scheduler = await spawnApp("apps/scheduler/src/main.ts", { ...as("scheduler"), WORKER_NAME: "s" });
    await scheduler.waitForLog(({ msg }) => msg === "scheduler ready", 50_000);
    await using worker = await spawnApp("apps/worker/src/main.ts", { ...as("worker"), WORKER_NAME: "w" });
    await worker.waitForLog(({ msg }) => msg === "worker ready", 50_000);
    const night = await run("operator", "run", "--date", date, "--wait", "--json");
    expect(night.code, night.stderr).toBe(3);
    expect(documentOf(night)).toMatchObject({ runs: [{ items: { applied: 7, parked: 1 } }] });
    const again = await run("operator", "rerun", "--date", date, "--wait");
    expect([0, 3], again.stderr).toContain(again.code);
    for (const process of [worker, scheduler]) {
      process.signal("SIGTERM");
      await process.exited;
    }
    const resized = await run("operator", "partitions", "resize", "--count", "4");
    expect(resized, resized.stderr).toMatchObject({ code: 0 });

    const before = await traces(test.db as never);
    const looks = [["status"], ["total", "r0001"], ["partitions"], ["jobs"], ["verify"], ["lease", "plan"]];
    const looked = await Promise.all(looks.map((words) => run("auditor", ...words)));
    for (const { code, stderr } of looked) expect([0, 2, 3], stderr).toContain(code);
    expect(await traces(test.db as never)).toEqual(before);
    const denied = await run("auditor", "run", "--date", date);
    expect(denied.code).toBe(1);
    expect(denied.stderr).toMatch(/permission denied|42501/);
  }, 240_000);
});

/** How often rows of each table were written since the server counts. */
async function traces(db: Kysely<never>): Promise<unknown> {
  const { rows } = await sql<{ table: string }>`select format('%I.%I', schemaname, tablename) as table from pg_tables
    where schemaname in ('nightwriter', 'sales') order by 1`.execute(db);
  return Promise.all(
    rows.map(async ({ table }) => {
      const { rows: found } = await sql`select md5(string_agg(it.xmin::text || it::text, ',' order by it::text)) as rows
        from ${sql.raw(table)} as it`.execute(db);
      return [table, found];
    }),
  );
}
