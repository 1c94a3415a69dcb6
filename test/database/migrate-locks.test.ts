/** What a migration locks, that it says so, and that nobody waits behind it. */

import { coreSchema, migrateToLatest, openDatabase, pendingLocks, pendingSql } from "@nightwriter/database";
import { bothPostgres, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { type Kysely, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { coreBefore, coreWith } from "./core-lists.ts";
import { emptiedDatabase } from "./emptied.ts";

/** This build's and one more, which changes a table that everybody uses. */
const planted = (statement: string) =>
  coreWith({ "0901-planted": { up: async (db) => void (await sql.raw(statement).execute(db)) } });
const addNote = planted("alter table nightwriter.run add column note text");

const all = Object.entries(coreSchema.migrations);

/** Tables that were there before, with what this transaction has on them and the file they are in. */
async function locked(db: Kysely<never>, before: ReadonlyMap<string, string>): Promise<Record<string, string>> {
  const { rows } = await sql<{ table: string; mode: string }>`
    select relation::regclass::text as table, max(case mode when 'AccessExclusiveLock' then '2 access exclusive'
      else '1 share row exclusive' end) as mode
    from pg_locks where pid = pg_backend_pid() and locktype = 'relation'
      and mode in ('AccessExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock', 'RowExclusiveLock') group by 1`.execute(
    db,
  );
  return Object.fromEntries(
    rows.filter(({ table }) => before.has(table)).map(({ table, mode }) => [table, mode.slice(2)]),
  );
}

async function files(db: Kysely<never>): Promise<Map<string, string>> {
  const { rows } = await sql<{ table: string; file: string }>`
    select oid::regclass::text as table, pg_relation_filenode(oid)::text as file from pg_class
    where relkind = 'r' and relnamespace::regnamespace::text in ('nightwriter', 'sales')
      and relname not like 'migration%'`.execute(db);
  return new Map(rows.map(({ table, file }) => [table, file]));
}

/** Runs the last migration in a transaction that is rolled back. */
async function runAndTakeBack({ db }: TestDatabase) {
  const transaction = await db.startTransaction().execute();
  const inside = transaction as unknown as Kysely<never>;
  const before = await files(inside);
  await all.at(-1)?.[1].up(inside);
  const seen = { before, after: await files(inside), taken: await locked(inside, before) };
  await transaction.rollback().execute();
  return seen;
}

describe.each(bothPostgres)("a migration on PostgreSQL %s", (server) => {
  test("locks what it says, and rewrites neither sales nor entries", async () => {
    await using test = await emptiedDatabase(server);
    await migrateToLatest(test.database, { lists: coreBefore(all.at(-1)?.[0] ?? "") });
    const told = await pendingLocks(test.database);
    const { before, after, taken } = await runAndTakeBack(test);
    const said = Object.fromEntries(told.map(({ table, mode }) => [table, mode]));
    // A lock that is only said would stop others for nothing; one that is only taken stops them unforeseen.
    expect(Object.keys(said).toSorted()).toEqual(Object.keys(taken).toSorted());
    expect(said).toMatchObject(taken);
    const unmoved = ["sales.sale", "nightwriter.ledger_entry", "nightwriter.key_total", "nightwriter.run_item"];
    expect(unmoved.map((table) => after.get(table))).toEqual(unmoved.map((table) => before.get(table)));
  });

  test("keeps nobody waiting while a reader keeps it waiting, names him, and ends when he does", async () => {
    await using test = await testDatabase({ server });
    await using reader = openDatabase({ url: test.url, applicationName: "somebody's report", max: 1 });
    await using migrator = openDatabase({
      url: test.url,
      applicationName: "migrate",
      max: 2,
      statementTimeoutMs: 0,
      lockTimeoutMs: 0,
    });
    const waits: number[] = [];
    const blocked: string[] = [];
    await reader.session(async (session) => {
      await session.query("begin; select from nightwriter.run");
      const enough = Promise.withResolvers<void>();
      const migrating = migrateToLatest(migrator, {
        lists: addNote,
        onBlocked: ({ who }) => {
          blocked.push(who);
          if (blocked.length === 3) enough.resolve();
        },
      });
      const writing = new AbortController();
      const writer = (async (): Promise<void> => {
        while (!writing.signal.aborted) {
          const start = performance.now();
          await sql`update nightwriter.run set finished_at = now() where id = 0`.execute(test.db);
          waits.push(performance.now() - start);
        }
      })();
      await Promise.race([enough.promise, migrating]);
      writing.abort();
      await writer;
      await session.query("commit");
      expect(await migrating).toMatchObject({ applied: ["0901-planted"] });
    });
    expect(blocked[0]).toMatch(
      /^session \d+ \(somebody's report, idle in transaction since \S+Z, its transaction since \S+Z, last command: begin\)$/,
    );
    expect(waits.length).toBeGreaterThan(3);
    expect(Math.max(...waits)).toBeLessThan(2_000);
  });
});

describe("migrateToLatest", () => {
  test("gives up when its patience is over, changes nothing and says who has the locks", async () => {
    await using test = await testDatabase();
    await test.database.session(async (session) => {
      await session.query("begin; lock table nightwriter.run in access share mode");
      await expect(migrateToLatest(test.database, { lists: addNote, patienceMs: 1 })).rejects.toMatchObject({
        code: "migration_blocked",
        retryable: true,
        message: expect.stringMatching(
          /^migration: did not get its locks, nothing was changed; end session \d+ \(test of /,
        ),
      });
      await session.query("rollback");
    });
    expect(await pendingSql(test.database, addNote)).toEqual([
      "begin",
      "set local lock_timeout = '500ms'",
      "set local statement_timeout = '500ms'",
      "lock table nightwriter.run in access exclusive mode",
      "set local statement_timeout = 0",
      "-- 0901-planted",
      "alter table nightwriter.run add column note text",
      expect.stringContaining("values ('0901-planted', "),
      "commit",
    ]);
  });

  test("builds large indexes beside those who write, and again what was left half built", async () => {
    await using test = await testDatabase();
    const index = { name: "restaurant_name", table: "sales.restaurant", on: "(name)", unique: true };
    const lists = coreWith({ "0901-planted": { up: async () => undefined, indexes: [index] } });
    const add = async (id: string): Promise<void> =>
      void (await sql`insert into sales.restaurant (id, name, time_zone, currency) values (${id}, 'Soho', 'UTC', 'EUR')`.execute(
        test.db,
      ));
    await add("one");
    await add("two");
    await expect(migrateToLatest(test.database, { lists })).rejects.toMatchObject({ sqlstate: "23505" });
    expect(await isValid(test)).toEqual([{ valid: false }]);
    const rebuild = [
      "drop index concurrently sales.restaurant_name",
      "create unique index concurrently restaurant_name on sales.restaurant (name)",
    ];
    expect(await pendingSql(test.database, lists)).toEqual(rebuild);
    await sql`delete from sales.restaurant where id = 'two'`.execute(test.db);
    const built: string[] = [];
    const migrate = async () => migrateToLatest(test.database, { lists, onIndex: (each) => void built.push(each) });
    await Promise.all([migrate(), migrate()]);
    expect(built).toEqual(rebuild);
    expect(await isValid(test)).toEqual([{ valid: true }]);
    expect(await pendingSql(test.database, lists)).toEqual([]);
  });
});

async function isValid({ db }: TestDatabase): Promise<unknown[]> {
  const query = sql`select indisvalid as valid from pg_index where indexrelid = to_regclass('sales.restaurant_name')`;
  return (await query.execute(db)).rows;
}
