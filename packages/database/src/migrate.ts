/** Bringing a database up to date, with Kysely's migrator: an advisory lock around it, all pending steps in one transaction. */
import { Fault } from "@nightwriter/core";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { Migrator } from "kysely/migration";
import { appliedMigrations } from "./applied-migrations.ts";
import { ensureEpoch, hasEpoch, startEpoch } from "./epoch.ts";
import { type Migrations, migrations } from "./migrations.ts";
import type { Database } from "./open-database.ts";
import { assertSchemaCompatible, rangeOf } from "./schema-version.ts";
import { sqlFault } from "./sql-fault.ts";

export interface MigrateResult {
  /** Names of the migrations that were applied now, in order; none when it was up to date. */
  readonly applied: readonly string[];
  /** The epoch of this cluster; `started` if it was begun now because the data came from another cluster, or is new. */
  readonly epoch: { readonly epoch: number; readonly started: boolean };
}

function migratorOf(database: Database, known: Migrations): Migrator {
  return new Migrator({
    db: database.db,
    provider: { getMigrations: () => Promise.resolve({ ...known }) },
    migrationTableSchema: "nightwriter",
    migrationTableName: "migration",
    migrationLockTableName: "migration_lock",
  });
}

/**
 * After it returns the schema is this build's, or the next one, which the build can work on as well and which is left as it
 * is; and the cluster has its epoch. Concurrent calls wait for each other. Throws SqlFault, or Fault: `migration_failed`
 * names the migration, and nothing was changed; `schema_ahead` when it is further ahead than that.
 */
export async function migrateToLatest(database: Database, known: Migrations = migrations): Promise<MigrateResult> {
  if ((await appliedMigrations(database)).length > Object.keys(known).length) {
    await assertSchemaCompatible(database, rangeOf(known));
    return { applied: [], epoch: await ensureEpoch(database) };
  }
  const { error, results = [] } = await migratorOf(database, known).migrateToLatest();
  if (error !== undefined) {
    const failed = results.find((result) => result.status === "Error");
    if (failed === undefined) throw sqlFault(error);
    throw new Fault(
      "migration_failed",
      `migration ${failed.migrationName}: ${sqlFault(error).message}; nothing was changed`,
      {
        details: { migration: failed.migrationName },
        cause: error,
      },
    );
  }
  const applied = results.filter((result) => result.status === "Success").map((result) => result.migrationName);
  return { applied, epoch: await ensureEpoch(database) };
}

/**
 * The SQL that {@link migrateToLatest} would run now, a statement each, with what the migrator notes down for itself: who runs it by
 * hand has migrated. Changes nothing. Throws SqlFault.
 */
export async function pendingSql(database: Database, known: Migrations = migrations): Promise<string[]> {
  const applied = await appliedMigrations(database);
  const pending = Object.entries(known).filter(([name]) => !applied.includes(name));
  const statements: string[] = applied.length === 0 ? [...firstStatements] : [];
  if (pending.length > 0) {
    const steps = await Promise.all(pending.map(recordStep));
    statements.push("begin", ...steps.flat(), "commit");
  }
  if (applied.length === 0 || !(await hasEpoch(database))) statements.push(startEpoch(database.db).compile().sql);
  return statements;
}

/** What the migrator makes for itself in a new database. */
const firstStatements = [
  `create schema if not exists nightwriter`,
  `create table if not exists nightwriter.migration
    (name varchar(255) not null primary key, "timestamp" varchar(255) not null)`,
  `create table if not exists nightwriter.migration_lock
    (id varchar(255) not null primary key, is_locked integer default 0 not null)`,
  `insert into nightwriter.migration_lock (id, is_locked) values ('migration_lock', 0)`,
] as const;

/** A migration's statements and the note that it was applied. */
async function recordStep([name, migration]: [string, Migrations[string]]): Promise<string[]> {
  const statements = [`-- ${name}`];
  const recorder = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: (event) => void statements.push(event.query.sql),
  });
  await migration?.up(recorder);
  const now = `to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return [...statements, `insert into nightwriter.migration (name, "timestamp") values ('${name}', ${now})`];
}
