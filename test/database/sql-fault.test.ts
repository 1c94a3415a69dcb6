/** Every kind of SQL error, brought about by a server. */

import { type Database, openDatabase, type Session, type SqlFault, sqlFault } from "@nightwriter/database";
import { bothPostgres, makeRestaurants, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";

const largest = "9223372036854775807";

/** Statements that fail by themselves, with the kind that they are and the constraint that the server names. */
const failures: readonly (readonly [sql: string, expected: object])[] = [
  [`select ${largest} + 1`, { code: "data", sqlstate: "22003" }],
  ["select 1 / 0", { code: "data", sqlstate: "22012" }],
  ["select 'x'::integer", { code: "data", sqlstate: "22P02" }],
  ["select '2026-02-30'::date", { code: "data", sqlstate: "22008" }],
  ["do $$ begin raise exception 'deadlock detected'; end $$", { code: "data", sqlstate: "P0001" }],
  [
    "insert into sales.restaurant (id, name, time_zone, currency) values ('', 'x', 'UTC', 'EUR')",
    { code: "data", sqlstate: "23514", details: { sqlstate: "23514", constraint: "restaurant_id_check" } },
  ],
  [
    "insert into sales.restaurant select * from sales.restaurant",
    { code: "duplicate", sqlstate: "23505", details: { sqlstate: "23505", constraint: "restaurant_pkey" } },
  ],
  [
    "insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor) values ('?', now(), '', 1, 1)",
    { code: "bug", sqlstate: "23503", details: { sqlstate: "23503", constraint: "sale_restaurant_id_fkey" } },
  ],
  ["update sales.restaurant set name = null", { code: "bug", sqlstate: "23502" }],
  ["select nothing from sales.sale", { code: "bug", sqlstate: "42703" }],
  ["select from sales.nothing", { code: "bug", sqlstate: "42P01" }],
  ["selekt", { code: "bug", sqlstate: "42601" }],
  ["set local role pg_monitor; delete from sales.restaurant", { code: "bug", sqlstate: "42501" }],
  [
    "set local work_mem = '64kB'; set local temp_file_limit = '64kB'; select from generate_series(1, 100000) i order by i",
    { code: "weather", sqlstate: "53400" },
  ],
  ["set local statement_timeout = 1; select pg_sleep(60)", { code: "weather", sqlstate: "57014" }],
  ["set transaction read only; update sales.restaurant set name = ''", { code: "weather", sqlstate: "25006" }],
  ["select pg_read_file('/nwtest-none')", { code: "weather", sqlstate: "58P01" }],
  ["do $$ begin raise 'away' using errcode = 'connection_failure'; end $$", { code: "weather", sqlstate: "08006" }],
];

async function faultOf(statement: Promise<unknown>): Promise<SqlFault> {
  return statement.then(
    () => Promise.reject(new Error("the statement did not fail")),
    (error: unknown) => sqlFault(error),
  );
}

/** Two sessions, each in a transaction of this kind, both rolled back at the end. */
async function rivals<Result>(
  { database }: TestDatabase,
  begin: string,
  race: (one: Session, other: Session) => Promise<Result>,
): Promise<Result> {
  return database.session(async (one) =>
    database.session(async (other) => {
      for (const session of [one, other]) await session.query(begin);
      const result = await race(one, other);
      for (const session of [one, other]) await session.query("rollback");
      return result;
    }),
  );
}

const touch = (id: string): string => `update sales.restaurant set name = name || '!' where id = '${id}'`;

describe.each(bothPostgres)("sqlFault on PostgreSQL %s", (server) => {
  test("sorts by SQLSTATE and constraint, whatever the message says", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    for (const [sql, expected] of failures) {
      const fault = await faultOf(test.database.session(async (session) => session.query(sql)));
      expect(fault, sql).toMatchObject({ ...expected, name: "SqlFault", retryable: fault.code === "weather" });
      expect(fault.message, sql).toMatch(/^database: ./);
      expect(sqlFault(fault)).toBe(fault);
    }
  });

  test("an error of this side's own is a bug, and nothing was lost", async () => {
    await using test = await testDatabase({ server });
    const circle: unknown[] = [];
    circle.push({ circle });
    const fault = await faultOf(
      test.database.session(async (session) => session.query("select $1::json", [circle[0]])),
    );
    expect(fault).toMatchObject({ code: "bug", sqlstate: undefined, retryable: false });
  });

  test("a serialisation failure is weather", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    const fault = await rivals(test, "begin isolation level repeatable read", async (one, other) => {
      await one.query("select from sales.restaurant");
      await other.query(touch("r0001"));
      await other.query("commit");
      return faultOf(one.query(touch("r0001")));
    });
    expect(fault).toMatchObject({ code: "weather", sqlstate: "40001", retryable: true });
  });

  test("a deadlock is weather for the one of the two that is broken off", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 2);
    const settled = await rivals(test, "begin; set local deadlock_timeout = '10ms'", async (one, other) => {
      await one.query(touch("r0001"));
      await other.query(touch("r0002"));
      return Promise.allSettled([one.query(touch("r0002")), other.query(touch("r0001"))]);
    });
    const reasons = settled.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    expect(reasons).toMatchObject([{ code: "weather", sqlstate: "40P01", retryable: true }]);
  });

  test("a lock that is not to be had is weather", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    const fault = await rivals(test, "begin", async (one, other) => {
      await one.query(touch("r0001"));
      return faultOf(other.query("select from sales.restaurant for update nowait"));
    });
    expect(fault).toMatchObject({ code: "weather", sqlstate: "55P03", retryable: true });
  });

  test("a statement whose backend is terminated is lost, although the server said a last word", async () => {
    await using test = await testDatabase({ server });
    const fault = await faultOf(
      test.database.session(async (session) => session.query("select pg_terminate_backend(pg_backend_pid())")),
    );
    expect(fault).toMatchObject({ code: "lost", sqlstate: "57P01", retryable: true });
  });

  test("a connection that is refused, closed at once or turned away is lost", async () => {
    await using test = await testDatabase({ server });
    const lost = async (change: (url: URL) => void): Promise<void> => {
      const url = new URL(test.url);
      change(url);
      await using database: Database = openDatabase({ url: url.href, applicationName: "test" });
      const fault = await faultOf(database.session(async (session) => session.query("select 1")));
      expect(fault).toMatchObject({ code: "lost", retryable: true });
    };
    await lost((url) => (url.port = "1"));
    await lost((url) => (url.hostname = "host.invalid"));
    await lost((url) => (url.password = "wrong"));
    await lost((url) => (url.pathname = "/nwtest_none"));
  });
});
