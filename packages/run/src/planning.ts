/**
 * The frame of everything that decides which items there are: one transaction under the job's advisory lock.
 *
 * Planners, finishRuns and whoever changes the partition count take the lock, so each of them sees what the one before
 * did, whole. Writers never take it: a night is applied while the next one is planned. Every statement in the frame takes
 * a snapshot of its own (READ COMMITTED), so what is read after the lock was read after the other's commit.
 */
import { Fault } from "@nightwriter/core";
import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import { assertQueryVersion, type Job } from "@nightwriter/job";
import { type RawBuilder, sql, type Transaction } from "kysely";

/** What a planner works with. The job's row as it is under the lock: the {@link Job} in hand may be older. */
export interface Planning {
  readonly db: Transaction<Schema>;
  readonly job: Job;
  readonly partitionCount: number;
  /** The stored number of the source query in force. */
  readonly queryVersion: number;
  /** `YYYY-MM-DD`; undefined when no date is closed. */
  readonly closedThrough: string | undefined;
  /** By the database's clock, once the lock was there. */
  readonly now: Temporal.Instant;
}

/** The first half of the advisory lock's key, the second is the job's id. Any constant would do. */
const planningLockSpace = 0x6e777264;

/**
 * Longer than a pool's usual lock timeout: ten schedulers that start at once for the same night plan it one after the other,
 * and all but the first find nothing to do. Below the client's own query timeout, so that the server speaks first.
 */
const planningLockTimeout = "25s";

/**
 * Throws a Fault when another source query is in force than this process knows: its plan would leave out what only that one sees
 * as different, and the next plan would not look at it again.
 */
export function assertQueryInForce({ job, queryVersion }: Planning): void {
  assertQueryVersion(queryVersion, job);
}

/** Takes the job's planning lock until the transaction ends. Throws the driver's error. */
export async function lockPlanning(db: Transaction<Schema>, jobId: number): Promise<void> {
  await sql`set local lock_timeout = ${sql.lit(planningLockTimeout)}`.execute(db);
  await planningLock(jobId).execute(db);
}

/** The statement that takes the lock, for a transaction that is not Kysely's; it waits as long as that one allows. */
export function planningLock(jobId: number): RawBuilder<unknown> {
  return sql`select pg_advisory_xact_lock(${planningLockSpace}, ${jobId}::integer)`;
}

/** Runs `work` in the frame and commits. Throws SqlFault and what `work` throws; nothing is changed then. */
export async function planning<Result>(
  { db }: Database,
  job: Job,
  work: (planning: Planning) => Promise<Result>,
): Promise<Result> {
  try {
    return await db
      .transaction()
      .setIsolationLevel("read committed")
      .execute(async (transaction) => {
        await lockPlanning(transaction, job.id);
        const row = await transaction
          .selectFrom("nightwriter.job")
          .select(["partition_count", "query_version", "closed_through"])
          .select((eb) => eb.fn<Date>("clock_timestamp").as("now"))
          .where("id", "=", job.id)
          .executeTakeFirstOrThrow();
        return work({
          db: transaction,
          job,
          partitionCount: row.partition_count,
          queryVersion: row.query_version,
          closedThrough: row.closed_through ?? undefined,
          now: row.now.toTemporalInstant(),
        });
      });
  } catch (error) {
    throw error instanceof Fault ? error : sqlFault(error);
  }
}
