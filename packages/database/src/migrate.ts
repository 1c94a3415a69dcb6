/**
 * Bringing a database up to date, with Kysely's migrator: an advisory lock around it, all pending steps in one transaction.
 *
 * A migration's number is its place in the list below: that list, not a folder, is what a build knows.
 */
import { Fault } from "@nightwriter/core";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import * as engine from "../migrations/0001-engine.ts";
import * as sales from "../migrations/0002-sales.ts";
import { appliedMigrations } from "./applied-migrations.ts";
import { ensureEpoch } from "./epoch.ts";
import type { Database } from "./open-database.ts";
import { sqlFault } from "./sql-fault.ts";

type Migrations = Readonly<Record<string, Migration>>;

/** Every migration of this build, oldest first. Names are never changed and never removed. */
export const migrations: Migrations = {
  "0001-engine": engine,
  "0002-sales": sales,
};

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

/** After it returns the schema is this build's, and the cluster has its epoch. Concurrent calls wait for each other. Throws SqlFault or Fault. */
export async function migrateToLatest(database: Database, known: Migrations = migrations): Promise<MigrateResult> {
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

/** The SQL that {@link migrateToLatest} would run now, a statement each; changes nothing. */
export async function pendingSql(database: Database, known: Migrations = migrations): Promise<string[]> {
  const applied = await appliedMigrations(database);
  const statements = applied.length === 0 ? ["create schema if not exists nightwriter"] : [];
  const recorder = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: (event) => void statements.push(event.query.sql),
  });
  for (const [name, migration] of Object.entries(known)) {
    if (applied.includes(name)) continue;
    statements.push(`-- ${name}`);
    await migration.up(recorder);
  }
  return statements;
}
