/** Bringing a database up to date, and which builds may work on which schema. */

import {
  assertSchemaCompatible,
  coreSchema,
  currentEpoch,
  migrateToLatest,
  openDatabase,
  pendingSql,
} from "@nightwriter/database";
import { bothPostgres, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { type Kysely, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { applied, apply, openNight, plan } from "../ledger/night.ts";
import { coreWith } from "./core-lists.ts";
import { emptiedDatabase } from "./emptied.ts";
import { dumpSchema } from "./schema-dump.ts";

const names = Object.keys(coreSchema.migrations);

/** What the database says it has had; none where it has never been migrated. */
async function appliedMigrations({ db }: Pick<TestDatabase, "db">): Promise<string[]> {
  const there = await sql<{ found: boolean }>`select to_regclass('nightwriter.migration') is not null as found`.execute(
    db,
  );
  if (there.rows[0]?.found !== true) return [];
  const { rows } = await sql<{ name: string }>`select name from nightwriter.migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Migrations of a later build: each adds what the build before it can ignore. */
const next = {
  "0901-planted": planted(
    "alter table nightwriter.ledger_entry add column note text not null default ''",
    "alter table nightwriter.key_total add column note text",
    "alter table nightwriter.run_item add column note text",
    "alter table sales.sale add column note text",
    "create table nightwriter.planted (id integer primary key)",
  ),
};
const afterNext = { "0902-planted": planted("create table nightwriter.planted_later (id integer primary key)") };

function planted(...statements: readonly string[]): { up(db: Kysely<unknown>): Promise<void> } {
  return {
    up: async (db) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

/** The names of all tables of ours. */
async function tables({ db }: TestDatabase): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class where oid >= 16384 and relkind = 'r' order by name`.execute(db);
  return rows.map((row) => row.name);
}

/** Runs what was printed, as psql would: as text, in one session. */
async function runByHand({ database }: TestDatabase, statements: readonly string[]): Promise<void> {
  const text = statements.map((statement) => (statement.startsWith("--") ? statement : `${statement};`)).join("\n");
  await database.session(async (session) => session.query(text));
}

describe.each(bothPostgres)("migrateToLatest on PostgreSQL %s", (server) => {
  test("applies every migration to an empty database, starts its epoch, and has nothing to do afterwards", async () => {
    await using test = await emptiedDatabase(server);
    expect(await appliedMigrations(test.database)).toEqual([]);
    expect(await migrateToLatest(test.database)).toEqual({ applied: names, epoch: { epoch: 1, started: true } });
    expect(await migrateToLatest(test.database)).toEqual({ applied: [], epoch: { epoch: 1, started: false } });
    expect(await appliedMigrations(test.database)).toEqual(names);
  });

  test("applies each migration once when ten processes start at once", async () => {
    await using test = await emptiedDatabase(server);
    const results = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        await using database = openDatabase({ url: test.url, applicationName: `migrate ${index}`, lockTimeoutMs: 0 });
        return await migrateToLatest(database);
      }),
    );
    expect(results.flatMap((result) => result.applied)).toEqual(names);
    expect(results.filter((result) => result.epoch.started)).toHaveLength(1);
    expect(await currentEpoch(test.database)).toBe(1);
  });

  test("takes all pending migrations back when one fails, and names it", async () => {
    await using test = await emptiedDatabase(server);
    const failing = { "0902-planted": planted("create table nightwriter.half (id integer)", "select nothing") };
    const migrating = migrateToLatest(test.database, { lists: coreWith({ ...next, ...failing }) });
    await expect(migrating).rejects.toMatchObject({
      code: "migration_failed",
      message: 'migration 0902-planted: database: column "nothing" does not exist; nothing of it was changed',
      details: { migration: "0902-planted" },
    });
    expect(await tables(test)).toEqual(["nightwriter.migration", "nightwriter.migration_lock"]);
    expect(await appliedMigrations(test.database)).toEqual([]);
    expect(await migrateToLatest(test.database)).toMatchObject({ applied: names });
  });
});

describe("pendingSql", () => {
  test("changes nothing, and is what migrateToLatest runs: by hand it makes the same schema, and leaves nothing to do", async () => {
    await using byHand = await emptiedDatabase("15");
    await using migrated = await emptiedDatabase("15");
    const statements = await pendingSql(byHand.database);
    expect(await tables(byHand)).toEqual([]);
    await runByHand(byHand, statements);
    await migrateToLatest(migrated.database);
    expect(await dumpSchema(byHand.url)).toBe(await dumpSchema(migrated.url));
    expect(await pendingSql(byHand.database)).toEqual([]);
    expect(await migrateToLatest(byHand.database)).toEqual({ applied: [], epoch: { epoch: 1, started: false } });
  });

  test("has only what is missing", async () => {
    await using test = await testDatabase();
    expect(await pendingSql(test.database)).toEqual([]);
    const statements = await pendingSql(test.database, coreWith(afterNext));
    expect(statements).toEqual([
      "begin",
      "-- 0902-planted",
      "create table nightwriter.planted_later (id integer primary key)",
      expect.stringContaining("values ('0902-planted', "),
      "commit",
    ]);
    await runByHand(test, statements);
    expect(await appliedMigrations(test.database)).toEqual([...names, "0902-planted"]);
    expect(await migrateToLatest(test.database, { lists: coreWith(afterNext) })).toMatchObject({ applied: [] });
  });
});

describe("a build", () => {
  test("refuses a database without a schema, and says how to make one", async () => {
    await using test = await emptiedDatabase("18");
    await expect(assertSchemaCompatible(test.database)).rejects.toMatchObject({
      code: "schema_missing",
      message: expect.stringContaining("run: nightwriter migrate"),
    });
  });

  test("refuses a schema that is behind it, and says how to bring it up to date", async () => {
    await using test = await testDatabase();
    const from = names.length;
    await expect(assertSchemaCompatible(test.database, coreWith(next)[0])).rejects.toMatchObject({
      code: "schema_behind",
      message: `database: schema ${from} is behind this build's ${from + 1}; run: nightwriter migrate`,
      details: { version: from },
    });
  });

  test("works on its own schema and goes on writing while the next one is migrated to under it", async () => {
    await using night = await openNight("18");
    const { database } = night.test;
    await assertSchemaCompatible(database);
    const [first] = await apply(night, await plan(night, { request: "own" }));
    expect(applied(first).totalAfter).toBe(1_120n);
    expect(await migrateToLatest(database, { lists: coreWith(next) })).toMatchObject({ applied: ["0901-planted"] });
    await assertSchemaCompatible(database);
    const [second] = await apply(night, await plan(night, { request: "next" }));
    expect(applied(second)).toMatchObject({ totalAfter: 1_120n, versionAfter: 3n });
    expect(await migrateToLatest(database)).toMatchObject({ applied: [] });
    expect(await appliedMigrations(database)).toEqual([...names, "0901-planted"]);
    expect(await pendingSql(database)).toEqual([]);
  });

  test("refuses a schema that is two ahead of it, to work on and to migrate", async () => {
    await using test = await testDatabase();
    await migrateToLatest(test.database, { lists: coreWith({ ...next, ...afterNext }) });
    const refused = {
      code: "schema_ahead",
      message: `database: schema ${names.length + 2} is ahead of what this build knows (${names.length} to ${names.length + 1}); deploy a newer build`,
    };
    await expect(assertSchemaCompatible(test.database)).rejects.toMatchObject(refused);
    await expect(migrateToLatest(test.database)).rejects.toMatchObject(refused);
  });
});
