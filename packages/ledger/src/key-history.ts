import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Selectable, sql } from "kysely";

/** One entry of a key. Amounts in minor units. */
export interface HistoryEntry {
  readonly version: bigint;
  readonly businessDate: Temporal.PlainDate;
  readonly runId: bigint;
  readonly deltaMinor: bigint;
  /** How many source rows the delta was summed over. */
  readonly sourceCount: bigint;
  readonly totalAfter: bigint;
  readonly fencingToken: bigint;
  readonly worker: string;
  readonly appliedAt: Temporal.Instant;
}

export interface KeyHistory {
  readonly key: string;
  readonly totalMinor: bigint;
  /** How many entries there are. */
  readonly version: bigint;
  /** Of the term that wrote last; 0 before the first entry. */
  readonly fencingToken: bigint;
  /** Undefined: the key is not paused. */
  readonly pausedAt: Temporal.Instant | undefined;
  /** In order of version. */
  readonly entries: readonly HistoryEntry[];
}

/**
 * The total of a key and all entries that made it, as of one moment. Undefined: the job has never planned anything for
 * such a key. Throws SqlFault.
 */
export async function keyHistory({ db }: Database, job: Job, key: string): Promise<KeyHistory | undefined> {
  try {
    // Two statements that may see different moments: the total's version says which entries belong to it.
    const total = await db
      .selectFrom("nightwriter.key_total")
      .selectAll()
      .where("job_id", "=", job.id)
      .where("key", "=", key)
      .executeTakeFirst();
    if (total === undefined) return undefined;
    const entries = await db
      .selectFrom("nightwriter.ledger_entry")
      .selectAll()
      .where("job_id", "=", job.id)
      .where("key", "=", key)
      // Versions have no gap, so that each is one lookup; entries lie by date, and there is no index by key alone.
      .where("version_after", "=", sql<bigint>`any(array(select generate_series(1, ${total.version}::bigint)))`)
      .orderBy("version_after")
      .execute();
    return {
      key,
      totalMinor: total.total_minor,
      version: total.version,
      fencingToken: total.fencing_token,
      pausedAt: total.paused_at?.toTemporalInstant(),
      entries: entries.map(entryOf),
    };
  } catch (error) {
    throw sqlFault(error);
  }
}

function entryOf(row: Selectable<Schema["nightwriter.ledger_entry"]>): HistoryEntry {
  return {
    version: row.version_after,
    businessDate: Temporal.PlainDate.from(row.business_date),
    runId: row.run_id,
    deltaMinor: row.delta_minor,
    sourceCount: row.source_count,
    totalAfter: row.total_after,
    fencingToken: row.fencing_token,
    worker: row.worker,
    appliedAt: row.applied_at.toTemporalInstant(),
  };
}
