/**
 * How long work under a lease took in past runs, as far as the ledger can say.
 *
 * What is measured: the time from one batch to the next of the same run, partition, worker and fencing token: of one
 * unbroken piece of work under one lease. Rows of one transaction are one batch; `applied_at` is when its statement
 * began, by the database's clock. So one measure is one statement, its answer, and the fetching of the next items.
 *
 * What is missed: the first batch of each piece, since nothing says when its work began; the last statement's own time;
 * writes that were refused, which have no entry; and everything that has no entry at all, such as a pause in which a
 * lease was lost and nothing was tried. What is counted too much: waiting for items that were not enqueued yet. So the
 * slow ones are an upper bound as long as nobody was fenced.
 */
import { type Database, sqlFault } from "@nightwriter/database";
import { sql } from "kysely";

/** Whose past is looked at, and against which length. */
export interface RunHistoryOptions {
  readonly jobId: number;
  readonly partitionCount: number;
  /** What counts as slow. */
  readonly leaseMs: number;
  /** The newest runs that have entries, at most. */
  readonly lastRuns: number;
}

export interface RunHistory {
  /** Runs of the job that were looked at. */
  readonly runs: number;
  readonly batches: number;
  /** Times from batch to batch: fewer than batches, by one for each piece of work. */
  readonly measures: number;
  /** Of these, how many were longer than the lease. */
  readonly slow: number;
  /** What half, and 99 of 100, of the measures are at most, in milliseconds. Undefined: there are none. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly longestMs: number | undefined;
}

interface HistoryRow {
  runs: bigint;
  batches: bigint;
  measures: bigint;
  slow: bigint;
  p50_ms: number | null;
  p99_ms: number | null;
  longest_ms: number | null;
}

/** Measures the newest runs, see above for what that is and is not. Reads all their entries once. Throws SqlFault. */
export async function measureRuns({ db }: Database, options: RunHistoryOptions): Promise<RunHistory> {
  const { jobId, partitionCount, leaseMs, lastRuns } = options;
  const job = sql`${jobId}::integer`;
  try {
    const { rows } = await sql<HistoryRow>`
      with looked as (
        select id from nightwriter.run as it
        where job_id = ${job}
          and exists (select from nightwriter.run_item as item where item.run_id = it.id)
        order by id desc limit ${lastRuns}::integer
      ), batch as (
        select min(entry.run_id) as run_id, entry.worker, entry.fencing_token, entry.applied_at,
          nightwriter.partition_of(min(entry.key), ${partitionCount}::integer) as partition
        from nightwriter.ledger_entry as entry
        where entry.job_id = ${job} and entry.run_id in (select id from looked)
        group by entry.epoch, entry.xid, entry.worker, entry.fencing_token, entry.applied_at
      ), measure as (
        select run_id, extract(epoch from applied_at - lag(applied_at) over (
          partition by run_id, partition, worker, fencing_token order by applied_at
        ))::double precision * 1000 as ms
        from batch
      )
      select count(distinct run_id) as runs, count(*) as batches, count(ms) as measures,
        count(*) filter (where ms > ${leaseMs}::double precision) as slow,
        percentile_disc(0.5) within group (order by ms) as p50_ms,
        percentile_disc(0.99) within group (order by ms) as p99_ms,
        max(ms) as longest_ms
      from measure`.execute(db);
    return historyOf(rows[0]);
  } catch (error) {
    throw sqlFault(error);
  }
}

function historyOf(row: HistoryRow | undefined): RunHistory {
  return {
    runs: Number(row?.runs ?? 0n),
    batches: Number(row?.batches ?? 0n),
    measures: Number(row?.measures ?? 0n),
    slow: Number(row?.slow ?? 0n),
    p50Ms: row?.p50_ms ?? undefined,
    p99Ms: row?.p99_ms ?? undefined,
    longestMs: row?.longest_ms ?? undefined,
  };
}
