/** Statements with a name: planned once, kept, and planned again before what they were planned for is long past. */
import { openDatabase, parameter, type Session, type Statement, statement } from "@nightwriter/database";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

let connection: TestDatabase;
/** So many that planning for the very values gains nothing. */
const ids: readonly string[] = Array.from({ length: 100 }, (_, index) => `r${index}`);

beforeEach(async () => {
  connection = await testDatabase({ max: 1 });
});

afterEach(async () => connection[Symbol.asyncDispose]());

interface Prepared {
  readonly name: string;
  readonly generic: number;
  readonly custom: number;
}

function lookup(): Statement<{ ids: readonly string[] }, { id: string }> {
  return statement(
    connection.db
      .selectFrom("sales.restaurant")
      .select("id")
      .where("id", "=", sql<string>`any(${parameter<string[]>("ids", "text[]")})`),
  );
}

async function prepared(session: Session): Promise<Prepared[]> {
  return session.query<Prepared>(
    "select name, generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements",
  );
}

/** How often the table was read whole. A session's own counts are told others at the end of its transaction, here at once. */
async function wholeReads(session: Session): Promise<number> {
  await session.query("select pg_stat_force_next_flush()");
  await session.query("select pg_stat_clear_snapshot()");
  const [row] = await session.query<{ scans: number }>(
    "select seq_scan::int as scans from pg_stat_user_tables where relname = 'restaurant'",
  );
  return row?.scans ?? Number.NaN;
}

describe("a statement with a name", () => {
  test("is prepared once per connection, and planned for all values after five times", async () => {
    await connection.database.session(async (session) => {
      for (let time = 0; time < 8; time++) await session.run(lookup().bind({ ids }));
      expect(await prepared(session)).toEqual([{ name: lookup().bind({ ids }).name, generic: 3, custom: 5 }]);
    });
  });

  test("sees new values at each run, and answers no others", async () => {
    await sql`insert into sales.restaurant (id, name, time_zone, currency)
      select 'r' || i, 'R', 'UTC', 'INR' from generate_series(1, 20) i`.execute(connection.db);
    for (let i = 1; i <= 20; i++) {
      const { rows } = await connection.database.run(lookup().bind({ ids: [`r${i}`, "nobody"] }));
      expect(rows).toEqual([{ id: `r${i}` }]);
    }
  });

  test("of a pool of index lookups reads no table whole, however empty it was when it was planned", async () => {
    await using lookups = openDatabase({
      url: connection.url,
      applicationName: "lookups",
      max: 1,
      statementTimeoutMs: 0,
      indexLookups: true,
    });
    await lookups.session(async (session) => {
      await session.query("analyze sales.restaurant");
      for (let time = 0; time < 3; time++) await session.run(lookup().bind({ ids }));
      expect(await prepared(session)).toMatchObject([{ generic: 3, custom: 0 }]);
      expect(await wholeReads(session)).toBe(0);
    });
  });

  test("that was planned for an empty table reads none of it whole a second after it has grown", async () => {
    await connection.database.session(async (session) => {
      await session.query("analyze sales.restaurant");
      for (let time = 0; time < 8; time++) await session.run(lookup().bind({ ids }));
      expect(await prepared(session)).toMatchObject([{ generic: 3 }]);
      expect(await wholeReads(session)).toBeGreaterThanOrEqual(8);
      await session.query(`insert into sales.restaurant (id, name, time_zone, currency)
        select 'r' || i, 'R', 'UTC', 'INR' from generate_series(1, 50000) i`);
      await session.query("select pg_sleep(1.1)");
      const before = await wholeReads(session);
      await session.run(lookup().bind({ ids }));
      expect(await wholeReads(session)).toBe(before);
    });
  });
});
