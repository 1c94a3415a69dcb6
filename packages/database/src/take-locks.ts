/**
 * The locks of a migration, taken all at once and given up soon: whoever wants one of the tables queues behind a lock that is waited
 * for, so nobody waits for long who never asked anything of the migration.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@nightwriter/core";
import { type Kysely, sql } from "kysely";
import { type Blocker, blockerColumns, describeBlockers } from "./blocker.ts";
import type { TableLock } from "./migration-locks.ts";
import type { Schema } from "./schema.ts";
import { sqlFault } from "./sql-fault.ts";

/** Tables waited for in vain; the whole migration was rolled back and is tried again after `againInMs`. */
export interface BlockedMigration {
  readonly blockers: readonly Blocker[];
  /** The blockers as a person reads them. */
  readonly who: string;
  readonly againInMs: number;
}

/** How long one kind of lock is waited for, and so everybody behind. */
const waitMs = 500;
/** An autovacuum gives way to whoever has waited for `deadlock_timeout`, a second by default. */
const waitForVacuumMs = 1_500;
const firstPauseMs = 500;
const longestPauseMs = 5_000;

const modes = ["access exclusive", "share row exclusive"] as const;

/** The statements that take the locks in the migration's transaction; to be followed by {@link unlimited}. */
export function lockStatements(locks: readonly TableLock[], forMs: number = waitMs): readonly string[] {
  const lock = modes.flatMap((mode) => {
    const tables = locks.filter((each) => each.mode === mode).map(({ table }) => table);
    return tables.length === 0 ? [] : [`lock table ${tables.join(", ")} in ${mode} mode`];
  });
  // The statement's limit too: several tables in one statement are waited for one after the other.
  return lock.length === 0
    ? []
    : [`set local lock_timeout = '${forMs}ms'`, `set local statement_timeout = '${forMs}ms'`, ...lock, unlimited];
}

/** What is locked is worked on to the end; a table that was not foreseen is still not waited for. */
const unlimited = "set local statement_timeout = 0";

const givenUp = new Set(["55P03", "57014", "40P01"]);

/** Whether the migration failed because it did not get its locks in time. */
export function isBlocked(error: unknown): boolean {
  return givenUp.has(sqlFault(error).sqlstate ?? "");
}

export interface Waiting {
  readonly locks: readonly TableLock[];
  /** How long all of it may take. */
  readonly patienceMs: number;
  readonly onBlocked: (blocked: BlockedMigration) => void;
}

/** Tries until it is not blocked. Throws a Fault `migration_blocked` that names the blockers when the patience is over, and what `attempt` throws else. */
export async function whileBlocked<Result>(
  db: Kysely<Schema>,
  { locks, patienceMs, onBlocked }: Waiting,
  attempt: (forMs: number) => Promise<Result>,
): Promise<Result> {
  const end = performance.now() + patienceMs;
  let forMs = waitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    try {
      return await attempt(forMs);
    } catch (error) {
      if (!isBlocked(error)) throw error;
      const { blockers, onlyVacuum } = await findBlockers(db, locks);
      if (performance.now() + pauseMs > end) throw blocked(blockers, error);
      forMs = onlyVacuum ? waitForVacuumMs : waitMs;
      onBlocked({ blockers, who: describe(blockers), againInMs: pauseMs });
      await sleep(pauseMs);
    }
  }
}

function blocked(blockers: readonly Blocker[], cause: unknown): Fault {
  return new Fault(
    "migration_blocked",
    `migration: did not get its locks, nothing was changed; end ${describe(blockers)}, and run it again`,
    { retryable: true, cause, details: { pids: blockers.map(({ pid }) => pid).join(",") } },
  );
}

function describe(blockers: readonly Blocker[]): string {
  return blockers.length === 0 ? "whoever had them, who is gone by now" : describeBlockers(blockers);
}

async function findBlockers(
  db: Kysely<Schema>,
  locks: readonly TableLock[],
): Promise<{ blockers: readonly Blocker[]; onlyVacuum: boolean }> {
  const tablesOf = (mode: TableLock["mode"]): string[] =>
    locks.filter((each) => each.mode === mode).map(({ table }) => table);
  const { rows } = await sql<Blocker & { vacuum: boolean }>`
    select distinct a.pid, a.xact_start, ${sql.raw(blockerColumns)},
      a.backend_type = 'autovacuum worker' as vacuum
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.granted and a.pid <> pg_backend_pid() and a.datname = current_database() and a.xact_start is not null
      and (l.relation = any(${tablesOf("access exclusive")}::text[]::regclass[])
        or l.relation = any(${tablesOf("share row exclusive")}::text[]::regclass[])
          and l.mode not in ('AccessShareLock', 'RowShareLock'))
    order by a.xact_start limit 3`.execute(db);
  return { blockers: rows, onlyVacuum: rows.length > 0 && rows.every(({ vacuum }) => vacuum) };
}
