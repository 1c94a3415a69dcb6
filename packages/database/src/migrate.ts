/** Bringing a database up to date, with Kysely's migrator: an advisory lock around it, all pending steps in one transaction. */
import { Fault } from "@nightwriter/core";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { appliedMigrations } from "./applied-migrations.ts";
import { buildIndexes, type ConcurrentIndex, missingIndexes, plainStatements } from "./concurrent-indexes.ts";
import { ensureEpoch, hasEpoch, startEpoch } from "./epoch.ts";
import { locksOf, type TableLock } from "./migration-locks.ts";
import type { Migrations } from "./migrations.ts";
import type { Database } from "./open-database.ts";
import { roleStatements } from "./roles.ts";
import { coreSchema, labelOf, type SchemaList } from "./schema-list.ts";
import { assertSchemaCompatible } from "./schema-version.ts";
import { sqlFault } from "./sql-fault.ts";
import { type BlockedMigration, isBlocked, lockStatements, whileBlocked } from "./take-locks.ts";

export interface MigrateResult {
  /** Names of the migrations that were applied now, in order, those of other lists as `schema/name`; none when it was up to date. */
  readonly applied: readonly string[];
  /** The epoch of this cluster; `started` if it was begun now because the data came from another cluster, or is new. */
  readonly epoch: { readonly epoch: number; readonly started: boolean };
}

/** What a call may be told while it is under way, and how long it may wait. */
export interface MigrateOptions {
  /** In this order. Default: the core's alone. */
  readonly lists?: readonly SchemaList[];
  /** Called whenever the locks were not to be had at once. */
  readonly onBlocked?: (blocked: BlockedMigration) => void;
  /** Called before each index that is built beside those who write. */
  readonly onIndex?: (statement: string) => void;
  /** How long the locks may be waited for in all. Default: five minutes. */
  readonly patienceMs?: number;
}

const usualPatienceMs = 300_000;

function migratorOf(database: Database, schema: string, known: Migrations): Migrator {
  return new Migrator({
    db: database.db,
    provider: { getMigrations: () => Promise.resolve({ ...known }) },
    migrationTableSchema: schema,
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
export async function migrateToLatest(database: Database, options: MigrateOptions = {}): Promise<MigrateResult> {
  const { lists = [coreSchema] } = options;
  const applied: string[] = [];
  for (const list of lists) {
    if (await isAhead(database, list)) await assertSchemaCompatible(database, list);
    else applied.push(...(await migrateList(database, list, options)));
  }
  return { applied, epoch: await ensureEpoch(database) };
}

async function isAhead(database: Database, list: SchemaList): Promise<boolean> {
  return (await appliedMigrations(database, list)).length > Object.keys(list.migrations).length;
}

async function migrateList(database: Database, list: SchemaList, options: MigrateOptions): Promise<string[]> {
  const { onBlocked = () => {}, onIndex = () => {}, patienceMs = usualPatienceMs } = options;
  const locks = await pendingLocks(database, [list]);
  const applied = await whileBlocked(database.db, { locks, patienceMs, onBlocked }, async (forMs) =>
    applyPending(database, list, [`set local lock_timeout = '${forMs}ms'`, ...lockStatements(locks, forMs)]),
  );
  await buildIndexes(database, indexesOf(list), onIndex);
  return applied;
}

/** What {@link migrateToLatest} would lock now, of the tables that there are. Throws SqlFault. */
export async function pendingLocks(
  database: Database,
  lists: readonly SchemaList[] = [coreSchema],
): Promise<readonly TableLock[]> {
  const steps = await Promise.all(lists.map(async (list) => pendingSteps(database, list)));
  const statements = await Promise.all(steps.flat().map(statementsOf));
  const locks = locksOf(statements.flat());
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

async function pendingSteps(database: Database, list: SchemaList): Promise<Step[]> {
  const applied = await appliedMigrations(database, list);
  return Object.entries(list.migrations).filter(([name]) => !applied.includes(name));
}

function indexesOf({ migrations }: SchemaList): readonly ConcurrentIndex[] {
  return Object.values(migrations).flatMap(({ indexes = [] }) => indexes);
}

/** Runs what is pending in one transaction, behind the statements that take its locks, and returns its names. */
async function applyPending(database: Database, list: SchemaList, first: readonly string[]): Promise<string[]> {
  let isFirst = true;
  const behindLocks = Object.entries(list.migrations).map(([name, migration]): [string, Migration] => [
    name,
    {
      up: async (db) => {
        if (isFirst) for (const statement of first) await sql.raw(statement).execute(db);
        isFirst = false;
        await migration.up(db);
      },
    },
  ]);
  const { error, results = [] } = await migratorOf(
    database,
    list.schema,
    Object.fromEntries(behindLocks),
  ).migrateToLatest();
  if (error === undefined) {
    return results.filter(({ status }) => status === "Success").map((result) => labelOf(list, result.migrationName));
  }
  const failed = results.find((result) => result.status === "Error");
  if (failed === undefined || isBlocked(error)) throw sqlFault(error);
  throw new Fault(
    "migration_failed",
    `migration ${labelOf(list, failed.migrationName)}: ${sqlFault(error).message}; nothing of it was changed`,
    { details: { migration: labelOf(list, failed.migrationName) }, cause: error },
  );
}

/**
 * The SQL that {@link migrateToLatest} would run now, a statement each, with what the migrator notes down for itself: who runs it by
 * hand has migrated; with `roles`, what `ensureRoles` would run after it too. Changes nothing. Throws SqlFault.
 */
export async function pendingSql(
  database: Database,
  lists: readonly SchemaList[] = [coreSchema],
  { roles = false }: { readonly roles?: boolean } = {},
): Promise<string[]> {
  const isNew = (await appliedMigrations(database)).length === 0;
  const statements: string[] = [];
  for (const list of lists) statements.push(...(await pendingOf(database, list, isNew)));
  if (isNew || !(await hasEpoch(database))) statements.push(startEpoch(database.db).compile().sql);
  if (roles) statements.push("begin", ...roleStatements(lists), "commit");
  return statements;
}

/** In a new database nobody waits for a table, so indexes are built within the transaction. */
async function pendingOf(database: Database, list: SchemaList, isNew: boolean): Promise<string[]> {
  const isFirst = (await appliedMigrations(database, list)).length === 0;
  const statements: string[] = isFirst ? firstStatements(list) : [];
  const pending = await pendingSteps(database, list);
  if (pending.length > 0) {
    const steps = await Promise.all(pending.map(async (step) => recordStep(list, step)));
    const locks = lockStatements(await pendingLocks(database, [list]));
    statements.push("begin", ...locks, ...steps.flat(), ...(isNew ? plainStatements(indexesOf(list)) : []), "commit");
  }
  if (isNew) return statements;
  return [...statements, ...(await database.session(async (session) => missingIndexes(session, indexesOf(list))))];
}

/** What the migrator makes for itself where it has never been. */
function firstStatements({ schema }: SchemaList): string[] {
  return [
    `create schema if not exists ${schema}`,
    `create table if not exists ${schema}.migration
    (name varchar(255) not null primary key, "timestamp" varchar(255) not null)`,
    `create table if not exists ${schema}.migration_lock
    (id varchar(255) not null primary key, is_locked integer default 0 not null)`,
    `insert into ${schema}.migration_lock (id, is_locked) values ('migration_lock', 0)`,
  ];
}

/** A migration's statements and the note that it was applied. */
async function recordStep(list: SchemaList, step: Step): Promise<string[]> {
  const [name] = step;
  const now = `to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const note = `insert into ${list.schema}.migration (name, "timestamp") values ('${name}', ${now})`;
  return [`-- ${labelOf(list, name)}`, ...(await statementsOf(step)), note];
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
