import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import type { ParkedItem } from "@nightwriter/run";
import { sql } from "kysely";

/** A parked item, and the run that has it. */
export interface ParkedPair extends ParkedItem {
  readonly runId: bigint;
}

/** What is parked in any run, however old. */
export interface ParkedEver {
  readonly count: number;
  /** The oldest dates first, up to the limit. */
  readonly oldest: readonly ParkedPair[];
}

/** Reads along the index of withdrawn items. A parked item that has its entry all the same waits for nobody. Throws SqlFault. */
export async function parkedEver({ db }: Pick<Database, "db">, job: Job, limit: number): Promise<ParkedEver> {
  const { rows } = await sql<{
    count: bigint;
    run_id: bigint;
    key: string;
    business_date: string;
    sqlstate: string | null;
    reason: string | null;
    last_at: Date | null;
  }>`
    select count(*) over () as count, it.run_id, it.key, it.business_date, attempt.sqlstate, attempt.reason, attempt.last_at
    from nightwriter.run_item it
    join nightwriter.run its on its.id = it.run_id and its.job_id = ${job.id}
    left join lateral (
      select tried.sqlstate, tried.reason, tried.last_at from nightwriter.attempt tried
      where tried.run_id = it.run_id and tried.business_date = it.business_date and tried.key = it.key
        and tried.outcome = 'parked'
      order by tried.last_at desc limit 1) attempt on true
    where it.status = 'parked' and it.status <> 'due' and not exists (
      select from nightwriter.ledger_entry entry
      where entry.job_id = ${job.id} and entry.key = it.key and entry.business_date = it.business_date
        and entry.run_id = it.run_id)
    order by it.business_date, it.key limit ${limit}`
    .execute(db)
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  return {
    count: Number(rows[0]?.count ?? 0n),
    oldest: rows.map((row) => ({
      runId: row.run_id,
      key: row.key,
      businessDate: row.business_date,
      sqlstate: row.sqlstate ?? undefined,
      reason: row.reason ?? undefined,
      attemptedAt: row.last_at?.toTemporalInstant(),
    })),
  };
}
