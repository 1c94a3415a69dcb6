/** What connections survive, and what ends a statement that takes too long. */

import { type Database, type DatabaseOptions, openDatabase, type SqlFault, sqlFault } from "@nightwriter/database";
import { bothPostgres, makeRestaurants, spawnApp, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { openProxy } from "./proxy.ts";

const program = "test/database/programs/terminated-backend.ts";

/** The ways to run a statement, each with the fault that it ends in. */
const ways = {
  run: async (database: Database, text: string) => database.run(sql.raw(text).compile(database.db)),
  session: async (database: Database, text: string) => database.session(async (session) => session.query(text)),
  kysely: async ({ db }: Database, text: string) =>
    sql
      .raw(text)
      .execute(db)
      .catch((error: unknown) => Promise.reject(sqlFault(error))),
};

function open(url: string, options: Partial<DatabaseOptions> = {}): Database {
  return openDatabase({ url, applicationName: "subject", max: 1, ...options });
}

async function faultOf(statement: Promise<unknown>): Promise<Pick<SqlFault, "code" | "sqlstate">> {
  const fault = await statement.then(
    () => undefined,
    (error: unknown) => sqlFault(error),
  );
  if (fault === undefined) throw new Error("the statement did not fail");
  return { code: fault.code, sqlstate: fault.sqlstate };
}

/** Waits until nobody but the test itself is connected to its database. */
async function nobodyConnected({ db }: TestDatabase): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ there: number }>`
      select count(*)::int as there from pg_stat_activity
      where datname = current_database() and application_name = 'subject'`.execute(db);
    if (rows[0]?.there === 0) return;
  }
}

/** Waits until a statement of the subject waits for a lock: it is under way then. */
async function lockWaiter({ db }: TestDatabase): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ waiting: boolean }>`
      select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')
        as waiting`.execute(db);
    if (rows[0]?.waiting === true) return;
  }
}

describe("a backend that is terminated", () => {
  test.each(["idle", "lent"])("does not end the process while its client is %s", async (state) => {
    await using test = await testDatabase();
    await using app = await spawnApp(program, { DATABASE_URL: test.url }, { args: ["ours", state] });
    await app.waitForLog(({ msg, anew }) => msg === "went on" && anew === true);
    expect(await app.exited).toEqual({ code: 0, signal: null });
    const lentOut = app.log.filter(({ msg }) => msg === "lent out");
    expect(lentOut).toMatchObject(state === "lent" ? [{ code: "lost" }] : []);
  });

  test("trap: ends the process of a bare pool, and of one with the pool's own listener while its client is lent out", async () => {
    await using test = await testDatabase();
    const endOf = async (kind: string, state: string) => {
      await using app = await spawnApp(program, { DATABASE_URL: test.url }, { args: [kind, state] });
      const { code } = await app.exited;
      return {
        code,
        why: app.log.some(({ msg }) => msg?.includes("terminating connection due to administrator command")),
      };
    };
    expect(await endOf("bare", "idle")).toEqual({ code: 1, why: true });
    expect(await endOf("bare", "lent")).toEqual({ code: 1, why: true });
    expect(await endOf("listening", "lent")).toEqual({ code: 1, why: true });
    expect(await endOf("listening", "idle")).toEqual({ code: 0, why: false });
  });
});

describe.each(bothPostgres)("a statement on PostgreSQL %s", (server) => {
  test("is weather when the server's time for it is over, or when it waited too long for a lock", async () => {
    await using test = await testDatabase({ server });
    await using impatient = open(test.url, { statementTimeoutMs: 1_000 });
    await using database = open(test.url, { lockTimeoutMs: 50 });
    await test.database.session(async (holder) => {
      await holder.query("begin");
      await holder.query("lock table sales.sale");
      for (const run of Object.values(ways)) {
        expect(await faultOf(run(impatient, "select pg_sleep(60)"))).toEqual({ code: "weather", sqlstate: "57014" });
        expect(await faultOf(run(database, "select from sales.sale"))).toEqual({ code: "weather", sqlstate: "55P03" });
        await run(database, "select 1");
      }
      await holder.query("rollback");
    });
  });
});

describe("a statement whose answer never arrives", () => {
  test.each(Object.entries(ways))("by %s is lost, took effect, and blocks no other", async (_, run) => {
    await using test = await testDatabase();
    await using proxy = await openProxy(test.url);
    await using database = open(proxy.url, { statementTimeoutMs: 0, queryTimeoutMs: 4_000 });
    await makeRestaurants(test.db, 1);
    await run(database, "select 1");
    proxy.mute();
    const update = "update sales.restaurant set name = 'changed'";
    expect(await faultOf(run(database, update))).toEqual({ code: "lost", sqlstate: undefined });
    const names = async () => test.db.selectFrom("sales.restaurant").select("name").execute();
    await expect.poll(names, { timeout: 20_000 }).toEqual([{ name: "changed" }]);
    await run(database, "select 1");
  });
});

describe("close", () => {
  test("ends every connection, however it was used, and is harmless when called again", async () => {
    await using test = await testDatabase();
    for (const run of Object.values(ways)) {
      const database = open(test.url);
      await run(database, "select 1");
      await database.close();
      await database.close();
      await nobodyConnected(test);
    }
    await expect(open(test.url).close()).resolves.toBeUndefined();
  });

  test("waits for the statements under way", async () => {
    await using test = await testDatabase();
    for (const run of Object.values(ways)) {
      const database = open(test.url);
      const done: string[] = [];
      const finish = await test.database.session(async (holder) => {
        await holder.query("begin");
        await holder.query("lock table sales.sale");
        const statement = run(database, "select from sales.sale").then(() => done.push("statement"));
        await lockWaiter(test);
        const closing = database.close().then(() => done.push("close"));
        await holder.query("commit");
        return Promise.all([statement, closing]);
      });
      expect(finish).toHaveLength(2);
      expect(done).toEqual(["statement", "close"]);
    }
  });
});

describe("a connection", () => {
  test("stays in use after a statement that the server refused", async () => {
    await using test = await testDatabase();
    await using database = open(test.url);
    const pid = async () => ways.session(database, "select pg_backend_pid()");
    const first = await pid();
    for (const run of Object.values(ways)) {
      expect(await faultOf(run(database, "select 1 / 0"))).toEqual({ code: "data", sqlstate: "22012" });
      expect(await pid()).toEqual(first);
    }
  });

  test("is not lent again when the work on it broke off by itself, with a statement perhaps under way", async () => {
    await using test = await testDatabase();
    await using database = open(test.url);
    const pid = async () => ways.session(database, "select pg_backend_pid()");
    const first = await pid();
    const broken = database.session(async (session) => {
      void session.query("select pg_sleep(60)").catch(() => undefined);
      throw new TypeError("planted");
    });
    await expect(broken).rejects.toThrow("planted");
    expect(await pid()).not.toEqual(first);
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`.execute(test.db);
  });

  test("that was left in a transaction is not lent again, and what was written in it is not there", async () => {
    await using test = await testDatabase();
    await using database = open(test.url);
    await makeRestaurants(test.db, 1);
    await database.session(async (session) => {
      await session.query("begin");
      await session.query("update sales.restaurant set name = 'changed'");
    });
    await ways.run(database, "update sales.restaurant set currency = 'EUR'");
    const rows = await test.db.selectFrom("sales.restaurant").select(["name", "currency"]).execute();
    expect(rows).toEqual([{ name: "Restaurant 1", currency: "EUR" }]);
  });
});
