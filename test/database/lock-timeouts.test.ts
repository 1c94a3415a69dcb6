/** Whoever gave up waiting for a lock says who had it, and nothing of what he wrote. */
import { type Database, openDatabase, type Session, type SqlFault, sqlFault } from "@nightwriter/database";
import { bothPostgres, makeRestaurants, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

const lockTimeoutMs = 3_000;

function open(url: string, applicationName = "subject", options: { lockTimeoutMs?: number } = {}): Database {
  return openDatabase({ url, applicationName, max: 2, lockTimeoutMs, ...options });
}

async function faultOf(statement: Promise<unknown>): Promise<SqlFault> {
  return statement.then(
    () => expect.unreachable("the statement did not fail"),
    (error: unknown) => sqlFault(error),
  );
}

async function copyInto(session: Session): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  session
    .copyFrom("copy sales.restaurant (id, name, time_zone, currency) from stdin")
    .on("error", reject)
    .on("finish", resolve)
    .end("r9\tSoho\tUTC\tEUR\n");
  await promise;
}

/** The ways to send a statement that waits for a row or a table. */
const ways: Readonly<Record<string, (database: Database) => Promise<unknown>>> = {
  run: async (database) => database.run(sql`update sales.restaurant set name = 'mine'`.compile(database.db)),
  session: async (database) => database.session(async (each) => each.query("select from sales.restaurant")),
  kysely: async ({ db }) => sql`update sales.restaurant set name = 'mine'`.execute(db),
  transaction: async ({ db }) =>
    db.transaction().execute(async (within) => sql`select from sales.restaurant for update`.execute(within)),
  copy: async (database) => database.session(copyInto),
};

/** In the way of all of them: table and rows, in a transaction whose statement has a secret in it. */
const inTheWay = "begin; lock table sales.restaurant; update sales.restaurant set name = 'hunter2'";

async function withHolder<Result>(
  test: TestDatabase,
  text: string,
  work: (pid: number) => Promise<Result>,
): Promise<Result> {
  await using holder = openDatabase({ url: test.url, applicationName: "somebody's psql", max: 1 });
  return await holder.session(async (session) => {
    const [row] = await session.query<{ pid: number }>("select pg_backend_pid() as pid");
    await session.query(text);
    const result = await work(row?.pid ?? 0);
    await session.query("rollback");
    return result;
  });
}

const instant = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;

describe.each(bothPostgres)("a lock timeout on PostgreSQL %s", (server) => {
  test("names the session that had the lock, its state and since when, whatever way the statement went", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    await using database = open(test.url);
    await withHolder(test, inTheWay, async (pid) => {
      const faults = Object.entries(ways).map(async ([way, run]): Promise<[string, SqlFault]> => {
        await using own = open(test.url);
        return [way, await faultOf(run(own))];
      });
      for (const [way, fault] of await Promise.all(faults)) {
        expect([way, fault.sqlstate]).toEqual([way, "55P03"]);
        expect(fault.message).toMatch(
          new RegExp(
            `^database: canceling statement due to lock timeout; waited for session ${pid} \\(somebody's psql, ` +
              `idle in transaction since ${instant}, its transaction since ${instant}, last command: begin\\)$`,
          ),
        );
        expect(fault.details).toMatchObject({ blockedBy: String(pid) });
        expect(`${fault.message}${JSON.stringify(fault)}`).not.toContain("hunter2");
      }
    });
    // The connection is as good as before.
    await database.run(sql`select 1`.compile(database.db));
  });
});

describe("a lock timeout", () => {
  test("names the one at the head of those who wait, not those who wait in between", async () => {
    await using test = await testDatabase();
    await makeRestaurants(test.db, 1);
    await using patient = open(test.url, "patient", { lockTimeoutMs: 20_000 });
    await using late = open(test.url);
    const waitsForRow = async () => patient.run(sql`update sales.restaurant set name = 'mine'`.compile(patient.db));
    const { waiting } = await withHolder(test, inTheWay, async (pid) => {
      const waiting = waitsForRow();
      const waiters = async () => (await sql`select from pg_locks where not granted`.execute(test.db)).rows.length;
      await expect.poll(waiters).toBe(1);
      const fault = await faultOf(late.session(async (each) => each.query("truncate sales.restaurant cascade")));
      expect(fault.details["blockedBy"]).toBe(String(pid));
      return { waiting };
    });
    await waiting;
  });

  test("tells no word of a statement but its command, also of what was typed at the wrong prompt", async () => {
    await using test = await testDatabase();
    await makeRestaurants(test.db, 1);
    await using database = open(test.url);
    await using holder = open(test.url, "typist");
    await holder.session(async (session) => {
      await session.query("begin; select from sales.restaurant for update");
      await session.query("savepoint before");
      await session.query("hunter2").catch(() => undefined);
      await session.query("select id from sales.restaurant").catch(() => undefined);
      const fault = await faultOf(database.run(sql`delete from sales.restaurant`.compile(database.db)));
      expect(fault.message).toMatch(/waited for session \d+ \(typist, idle in transaction \(aborted\) since .*\)$/);
      expect(fault.message).not.toMatch(/hunter2|sales\.restaurant/);
      await session.query("rollback");
    });
  });

  test("of an advisory lock is told as well, and with a limit of the statement's own", async () => {
    await using test = await testDatabase();
    await using database = open(test.url, "subject", { lockTimeoutMs: 0 });
    await withHolder(test, "begin; select pg_advisory_xact_lock(7)", async (pid) => {
      const fault = await faultOf(
        database.db.transaction().execute(async (within) => {
          await sql`set local lock_timeout = '2500ms'`.execute(within);
          await sql`select pg_advisory_xact_lock(7)`.execute(within);
        }),
      );
      expect(fault.details["blockedBy"]).toBe(String(pid));
    });
  });

  test("is told without a name when there is no connection to ask on", async () => {
    await using test = await testDatabase();
    await makeRestaurants(test.db, 1);
    await sql
      .raw(`create role ${test.name} login password 'x' connection limit 1 in role pg_write_all_data, pg_read_all_data`)
      .execute(test.db);
    const url = new URL(test.url);
    url.username = test.name;
    url.password = "x";
    try {
      await withHolder(test, inTheWay, async () => {
        await using database = open(url.href);
        const fault = await faultOf(database.run(sql`select from sales.restaurant`.compile(database.db)));
        expect(fault.message).toBe("database: canceling statement due to lock timeout");
      });
    } finally {
      await sql.raw(`drop role ${test.name}`).execute(test.db);
    }
  });
});
