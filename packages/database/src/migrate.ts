/** Bringing a database up to date, with Kysely's migrator: an advisory lock around it, all pending steps in one transaction. */
import { Fault } from "@nightwriter/core";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { appliedMigrations } from "./applied-migrations.ts";
import { buildIndexes, type ConcurrentIndex, missingIndexes, plainStatements } from "./concurrent-indexes.ts";
import { ensureEpoch, hasEpoch, startEpoch } from "./epoch.ts";
import { locksOf, type TableLock } from "./migration-locks.ts";
import { type Migrations, migrations } from "./migrations.ts";
import type { Database } from "./open-database.ts";
import { assertSchemaCompatible, rangeOf } from "./schema-version.ts";
import { sqlFault } from "./sql-fault.ts";
import { type BlockedMigration, isBlocked, lockStatements, whileBlocked } from "./take-locks.ts";

export interface MigrateResult {
  /** Names of the migrations that were applied now, in order; none when it was up to date. */
  readonly applied: readonly string[];
  /** The epoch of this cluster; `started` if it was begun now because the data came from another cluster, or is new. */
  readonly epoch: { readonly epoch: number; readonly started: boolean };
}

/** What a call may be told while it is under way, and how long it may wait. */
export interface MigrateOptions {
  /** Called whenever the locks were not to be had at once. */
  readonly onBlocked?: (blocked: BlockedMigration) => void;
  /** Called before each index that is built beside those who write. */
  readonly onIndex?: (statement: string) => void;
  /** How long the locks may be waited for in all. Default: five minutes. */
  readonly patienceMs?: number;
}

const usualPatienceMs = 300_000;

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
 * is; and the cluster has its epoch. Concurrent calls wait for each other.
 *
 * All pending steps are one transaction, which takes its locks at once or gives them up within a second and tries again: nobody
 * waits behind it for longer. Indexes of large tables are built afterwards, beside those who write.
 *
 * Throws SqlFault, or Fault: `migration_failed` names the migration, and nothing was changed; `migration_blocked` names who had the
 * locks; `schema_ahead` when it is further ahead than that.
 */
export async function migrateToLatest(
  database: Database,
  known: Migrations = migrations,
  options: MigrateOptions = {},
): Promise<MigrateResult> {
  if ((await appliedMigrations(database)).length > Object.keys(known).length) {
    await assertSchemaCompatible(database, rangeOf(known));
    return { applied: [], epoch: await ensureEpoch(database) };
  }
  const { onBlocked = () => {}, onIndex = () => {}, patienceMs = usualPatienceMs } = options;
  const locks = await pendingLocks(database, known);
  const applied = await whileBlocked(database.db, { locks, patienceMs, onBlocked }, async (forMs) =>
    applyPending(database, known, [`set local lock_timeout = '${forMs}ms'`, ...lockStatements(locks, forMs)]),
  );
  await buildIndexes(database, indexesOf(known), onIndex);
  return { applied, epoch: await ensureEpoch(database) };
}

/** What {@link migrateToLatest} would lock now, of the tables that there are. Throws SqlFault. */
export async function pendingLocks(database: Database, known: Migrations = migrations): Promise<readonly TableLock[]> {
  const steps = await Promise.all((await pendingSteps(database, known)).map(statementsOf));
  const locks = locksOf(steps.flat());
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${locks.map(({ table }) => table)}::text[]) as name where to_regclass(name) is not null`
    .execute(database.db)
    .catch((error: unknown) => {
      throw sqlFault(error);
    });
  const there = new Set(rows.map(({ name }) => name));
  return locks.filter(({ table }) => there.has(table));
}

type Step = readonly [name: string, migration: Migrations[string]];

async function pendingSteps(database: Database, known: Migrations): Promise<Step[]> {
  const applied = await appliedMigrations(database);
  return Object.entries(known).filter(([name]) => !applied.includes(name));
}

function indexesOf(known: Migrations): readonly ConcurrentIndex[] {
  return Object.values(known).flatMap(({ indexes = [] }) => indexes);
}

/** Runs what is pending in one transaction, behind the statements that take its locks, and returns its names. */
async function applyPending(database: Database, known: Migrations, first: readonly string[]): Promise<string[]> {
  let isFirst = true;
  const behindLocks = Object.entries(known).map(([name, migration]): [string, Migration] => [
    name,
    {
      up: async (db) => {
        if (isFirst) for (const statement of first) await sql.raw(statement).execute(db);
        isFirst = false;
        await migration.up(db);
      },
    },
  ]);
  const { error, results = [] } = await migratorOf(database, Object.fromEntries(behindLocks)).migrateToLatest();
  if (error === undefined) {
    return results.filter((result) => result.status === "Success").map((result) => result.migrationName);
  }
  const failed = results.find((result) => result.status === "Error");
  if (failed === undefined || isBlocked(error)) throw sqlFault(error);
  throw new Fault(
    "migration_failed",
    `migration ${failed.migrationName}: ${sqlFault(error).message}; nothing was changed`,
    { details: { migration: failed.migrationName }, cause: error },
  );
}

/**
 * The SQL that {@link migrateToLatest} would run now, a statement each, with what the migrator notes down for itself: who runs it by
 * hand has migrated. Changes nothing. Throws SqlFault.
 */
export async function pendingSql(database: Database, known: Migrations = migrations): Promise<string[]> {
  const applied = await appliedMigrations(database);
  const pending = await pendingSteps(database, known);
  const statements: string[] = applied.length === 0 ? [...firstStatements] : [];
  if (pending.length > 0) {
    const steps = await Promise.all(pending.map(recordStep));
    const indexes = applied.length === 0 ? plainStatements(indexesOf(known)) : [];
    const locks = lockStatements(await pendingLocks(database, known));
    statements.push("begin", ...locks, ...steps.flat(), ...indexes, "commit");
  }
  if (applied.length > 0) {
    const missing = await database.session(async (session) => missingIndexes(session, indexesOf(known)));
    statements.push(...missing);
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
async function recordStep(step: Step): Promise<string[]> {
  const [name] = step;
  const now = `to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const note = `insert into nightwriter.migration (name, "timestamp") values ('${name}', ${now})`;
  return [`-- ${name}`, ...(await statementsOf(step)), note];
}

/** What a migration would send, written down by a driver that sends nothing. */
async function statementsOf([, migration]: Step): Promise<string[]> {
  const statements: string[] = [];
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
  return statements;
}
