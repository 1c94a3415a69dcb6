/**
 * Signs of life, in one row for each worker. Every instant in it is the database's: workers on machines whose clocks
 * disagree still agree on who is alive.
 */
import { type Database, sqlFault } from "@nightwriter/database";
import { type RawBuilder, sql } from "kysely";

/** Which process it is. */
export interface WorkerIdentity {
  /** Unique per process. Two processes of one name count as one worker, and take turns in its row. */
  readonly name: string;
  readonly host: string;
  readonly pid: number;
}

/** What a worker says of itself. */
export interface Heartbeat extends WorkerIdentity {
  /** Milliseconds since the process started. */
  readonly upMs: number;
  /** Guarded statements of this process that were refused because their term was over. */
  readonly refusedWrites: number;
  /**
   * By "job/partition", milliseconds since this process last applied an entry there. What is left out stays as it was, so it
   * is enough to say what has changed.
   */
  readonly lastEntriesAgoMs: Readonly<Record<string, number>>;
}

/** Afterwards the worker is alive, from now on, whether it was known, had left or is new. Throws SqlFault. */
export async function recordHeartbeat({ db }: Database, beat: Heartbeat): Promise<void> {
  const beating = db
    .insertInto("nightwriter.worker")
    .values({
      name: beat.name,
      host: beat.host,
      pid: beat.pid,
      started_at: ago(sql`${beat.upMs}`),
      refused_writes: beat.refusedWrites,
      last_entries: instants(beat.lastEntriesAgoMs),
    })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet((eb) => ({
        host: eb.ref("excluded.host"),
        pid: eb.ref("excluded.pid"),
        started_at: eb.ref("excluded.started_at"),
        seen_at: sql<Date>`now()`,
        left_at: null,
        refused_writes: eb.ref("excluded.refused_writes"),
        last_entries: sql<string>`worker.last_entries || excluded.last_entries`,
      })),
    );
  await asSqlFault(beating.execute());
}

/**
 * Afterwards the worker is not alive until its next heartbeat: others want its partitions at once. Leaves the row alone if
 * another process of the same name wrote it last. Throws SqlFault: the worker counts as alive until it has been silent long enough.
 */
export async function markLeft({ db }: Database, { name, host, pid }: WorkerIdentity): Promise<void> {
  const leaving = db
    .updateTable("nightwriter.worker")
    .set({ left_at: sql<Date>`now()` })
    .where("name", "=", name)
    .where("host", "=", host)
    .where("pid", "=", pid);
  await asSqlFault(leaving.execute());
}

/**
 * Drops the rows of workers that have been silent for a week. A name often contains a process id, so that each restart makes a
 * new row. Throws SqlFault.
 */
export async function forgetSilentWorkers({ db }: Database): Promise<void> {
  await asSqlFault(
    db.deleteFrom("nightwriter.worker").where("seen_at", "<", sql<Date>`now() - interval '7 days'`).execute(),
  );
}

function ago(ms: RawBuilder<unknown>): RawBuilder<Date> {
  return sql`now() - ${ms}::float8 * interval '1 millisecond'`;
}

function instants(agoMs: Readonly<Record<string, number>>): RawBuilder<string> {
  return sql`(
    select coalesce(jsonb_object_agg(given.key, ${ago(sql`given.value`)}), '{}')
    from jsonb_each_text(${JSON.stringify(agoMs)}::jsonb) as given)`;
}

async function asSqlFault(answer: Promise<unknown>): Promise<void> {
  await answer.catch((error: unknown) => Promise.reject(sqlFault(error)));
}
