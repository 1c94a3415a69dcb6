/**
 * Signs of life of schedulers, in one row for each. A table of their own: whoever counts live workers to share partitions among
 * them must not find a scheduler there. Every instant is the database's.
 */
import { type Database, sqlFault } from "@nightwriter/database";
import { sql } from "kysely";
import type { WorkerIdentity } from "./heartbeat.ts";

/** After so many milliseconds of silence a scheduler is taken for dead. It beats six times in them. */
export const schedulerStaleMs = 30_000;

/** What a scheduler says of itself. */
export interface SchedulerHeartbeat extends WorkerIdentity {
  /** Milliseconds since the process started. */
  readonly upMs: number;
  /** Whether it does the duties. */
  readonly leads: boolean;
  /** Milliseconds by which its clock is ahead of the database's; negative: behind. */
  readonly clockAheadMs: number;
  /** Why it must not lead. Undefined: nothing is in the way. */
  readonly hindrance: string | undefined;
}

/** A scheduler as its last heartbeat has it. */
export interface SchedulerSight extends WorkerIdentity {
  readonly startedAt: Temporal.Instant;
  readonly seenAt: Temporal.Instant;
  /** Whether it has not left and was heard of within {@link schedulerStaleMs}. */
  readonly alive: boolean;
  readonly leads: boolean;
  /** Since when it leads, or stands by. */
  readonly since: Temporal.Instant;
  readonly clockAheadMs: number;
  readonly hindrance: string | undefined;
}

/** Afterwards the scheduler is alive, from now on, and the row says whether it leads, and since when. Throws SqlFault. */
export async function recordSchedulerHeartbeat({ db }: Database, beat: SchedulerHeartbeat): Promise<void> {
  const started = sql<Date>`now() - ${beat.upMs}::float8 * interval '1 millisecond'`;
  await db
    .insertInto("nightwriter.scheduler")
    .values({
      name: beat.name,
      host: beat.host,
      pid: beat.pid,
      started_at: started,
      leads: beat.leads,
      clock_ahead_ms: Math.round(beat.clockAheadMs),
      hindrance: beat.hindrance ?? null,
    })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet((eb) => ({
        host: eb.ref("excluded.host"),
        pid: eb.ref("excluded.pid"),
        started_at: eb.ref("excluded.started_at"),
        seen_at: sql<Date>`now()`,
        left_at: null,
        leads: eb.ref("excluded.leads"),
        since: sql<Date>`case when (scheduler.leads, scheduler.host, scheduler.pid) = (excluded.leads, excluded.host, excluded.pid)
          and scheduler.left_at is null and abs(extract(epoch from scheduler.started_at - excluded.started_at)) < 5
          then scheduler.since else now() end`,
        clock_ahead_ms: eb.ref("excluded.clock_ahead_ms"),
        hindrance: eb.ref("excluded.hindrance"),
      })),
    )
    .execute()
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
}

/** Afterwards the scheduler is not alive. Leaves the row alone if another process of the same name wrote it last. Throws SqlFault. */
export async function markSchedulerLeft({ db }: Database, { name, host, pid }: WorkerIdentity): Promise<void> {
  await db
    .updateTable("nightwriter.scheduler")
    .set({ left_at: sql<Date>`now()`, leads: false, since: sql<Date>`now()` })
    .where("name", "=", name)
    .where("host", "=", host)
    .where("pid", "=", pid)
    .execute()
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
}

/** Drops the rows of schedulers that have been silent for a week: a name often contains a process id. Throws SqlFault. */
export async function forgetSilentSchedulers({ db }: Database): Promise<void> {
  await db
    .deleteFrom("nightwriter.scheduler")
    .where("seen_at", "<", sql<Date>`now() - interval '7 days'`)
    .execute()
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
}

/** Every scheduler that was heard of in the last week, in the order of their names. Throws SqlFault. */
export async function findSchedulers({ db }: Database): Promise<SchedulerSight[]> {
  const alive = sql<boolean>`left_at is null and seen_at > now() - ${schedulerStaleMs}::float8 * interval '1 millisecond'`;
  const rows = await db
    .selectFrom("nightwriter.scheduler")
    .selectAll()
    .select(alive.as("alive"))
    .orderBy("name")
    .execute()
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  return rows.map((row) => ({
    name: row.name,
    host: row.host,
    pid: row.pid,
    startedAt: row.started_at.toTemporalInstant(),
    seenAt: row.seen_at.toTemporalInstant(),
    alive: row.alive,
    leads: row.alive && row.leads,
    since: row.since.toTemporalInstant(),
    clockAheadMs: row.clock_ahead_ms,
    hindrance: row.hindrance ?? undefined,
  }));
}
