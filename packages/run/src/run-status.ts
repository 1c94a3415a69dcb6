import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Kysely, sql } from "kysely";
import { type Run, type RunRow, runColumns, runOf } from "./run.ts";

/** An item that its own error stopped. */
export interface ParkedItem {
  readonly key: string;
  readonly businessDate: string;
  /** Undefined where no attempt was recorded: somebody parked it. */
  readonly sqlstate: string | undefined;
  readonly reason: string | undefined;
  readonly attemptedAt: Temporal.Instant | undefined;
}

/** How a run goes. Each item is counted once, in one of the five. */
export interface RunStatus {
  readonly run: Run;
  readonly total: number;
  readonly applied: number;
  /** Waiting to be applied. */
  readonly due: number;
  /** Would be due, but their key is paused. */
  readonly paused: number;
  readonly parked: number;
  /** Not applied and withdrawn by an operator, one by one or with the run. */
  readonly cancelled: number;
  /** Sum of what was applied, in minor units, whatever the currencies of the keys. */
  readonly deltaMinor: bigint;
  readonly firstAppliedAt: Temporal.Instant | undefined;
  readonly lastAppliedAt: Temporal.Instant | undefined;
  /** Items applied per second, from the first to the last; undefined below two, or when both came in one statement. */
  readonly appliedPerSecond: number | undefined;
  /** By key, up to the limit. */
  readonly parkedItems: readonly ParkedItem[];
  /** Causes that so many items share that no more are parked for them: the rest stays due, and is applied once they are mended. */
  readonly crowdedCauses: readonly CrowdedCause[];
}

/** A SQLSTATE or kind of damage, and how many items of the run are parked for it. */
export interface CrowdedCause {
  readonly cause: string;
  readonly parked: number;
}

/** Every run of a date, or one run. */
export type StatusFilter = { readonly businessDate: Temporal.PlainDate } | { readonly runId: bigint };

/**
 * The job's runs of the date, oldest first, or the one run; none is an empty list. Reads the run's items and their entries:
 * milliseconds per thousand items. `parkedLimit` bounds the list of parked items per run (default 20), not their count. Throws
 * SqlFault.
 */
export async function runStatus(
  { db }: Database,
  job: Job,
  filter: StatusFilter & { readonly parkedLimit?: number },
): Promise<RunStatus[]> {
  try {
    const rows = await findRuns(db, job, filter);
    const statuses: RunStatus[] = [];
    for (const row of rows) {
      const counts = await countItems(db, job, row);
      const parkedItems = counts.parked === 0n ? [] : await findParked(db, row.id, filter.parkedLimit ?? 20);
      const crowdedCauses = counts.parked < crowd ? [] : await findCrowded(db, row.id, counts.total);
      statuses.push({ ...statusOf(row, counts, parkedItems), crowdedCauses });
    }
    return statuses;
  } catch (error) {
    throw sqlFault(error);
  }
}

async function findRuns(db: Kysely<Schema>, job: Job, filter: StatusFilter): Promise<RunRow[]> {
  const runs = db.selectFrom("nightwriter.run").select(runColumns).where("job_id", "=", job.id).orderBy("id");
  return "runId" in filter
    ? runs.where("id", "=", filter.runId).execute()
    : runs.where("business_date", "=", filter.businessDate.toString()).execute();
}

interface ItemCounts {
  readonly total: bigint;
  readonly applied: bigint;
  readonly paused: bigint;
  readonly parked: bigint;
  readonly cancelled: bigint;
  /** A numeric: the sum of bigints may be none. */
  readonly delta: string;
  readonly first: Date | null;
  readonly last: Date | null;
}

/** Looks each item's entry up by itself, as unapplied-items.ts does and for the same reason. */
async function countItems(db: Kysely<Schema>, job: Job, run: RunRow): Promise<ItemCounts> {
  const open = sql`entry.applied_at is null`;
  const cancelled = run.cancelled_at === null ? sql`it.status = 'cancelled'` : sql`it.status <> 'parked'`;
  const paused = run.cancelled_at === null ? sql`total.paused_at is not null` : sql`false`;
  return db
    .selectFrom("nightwriter.run_item as it")
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom("nightwriter.ledger_entry as entry")
          .select(["entry.applied_at", "entry.delta_minor"])
          .where("entry.job_id", "=", job.id)
          .whereRef("entry.key", "=", "it.key")
          .whereRef("entry.business_date", "=", "it.business_date")
          .whereRef("entry.run_id", "=", "it.run_id")
          .limit(1)
          .as("entry"),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom("nightwriter.key_total as total")
          .select("total.paused_at")
          .where("total.job_id", "=", job.id)
          .whereRef("total.key", "=", "it.key")
          .limit(1)
          .as("total"),
      (join) => join.onTrue(),
    )
    .select([
      sql<bigint>`count(*)`.as("total"),
      sql<bigint>`count(entry.applied_at)`.as("applied"),
      sql<bigint>`count(*) filter (where ${open} and it.status = 'due' and ${paused})`.as("paused"),
      sql<bigint>`count(*) filter (where ${open} and it.status = 'parked')`.as("parked"),
      sql<bigint>`count(*) filter (where ${open} and ${cancelled})`.as("cancelled"),
      sql<string>`coalesce(sum(entry.delta_minor), 0)`.as("delta"),
      sql<Date | null>`min(entry.applied_at)`.as("first"),
      sql<Date | null>`max(entry.applied_at)`.as("last"),
    ])
    .where("it.run_id", "=", run.id)
    .executeTakeFirstOrThrow();
}

/** As many items as the park sets aside for one cause, see its migration: 100, or 5 % of the run if that is more. */
const crowd = 100n;

async function findCrowded(db: Kysely<Schema>, runId: bigint, total: bigint): Promise<CrowdedCause[]> {
  const most = total / 20n > crowd ? total / 20n : crowd;
  const rows = await db
    .selectFrom("nightwriter.run_item")
    .select((eb) => [sql<string>`parked_for`.as("cause"), eb.fn.countAll<bigint>().as("parked")])
    .where("run_id", "=", runId)
    .where("status", "=", "parked")
    .where("parked_for", "is not", null)
    .groupBy("parked_for")
    .having((eb) => eb.fn.countAll<bigint>(), ">=", most)
    .orderBy("parked_for")
    .execute();
  return rows.map(({ cause, parked }) => ({ cause, parked: Number(parked) }));
}

/** With the last attempt that parked each. */
async function findParked(db: Kysely<Schema>, runId: bigint, limit: number): Promise<ParkedItem[]> {
  const rows = await db
    .selectFrom("nightwriter.run_item as it")
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom("nightwriter.attempt as attempt")
          .select(["attempt.sqlstate", "attempt.reason", "attempt.last_at"])
          .whereRef("attempt.run_id", "=", "it.run_id")
          .whereRef("attempt.business_date", "=", "it.business_date")
          .whereRef("attempt.key", "=", "it.key")
          .where("attempt.outcome", "=", "parked")
          .orderBy("attempt.last_at", "desc")
          .limit(1)
          .as("attempt"),
      (join) => join.onTrue(),
    )
    .select(["it.key", "it.business_date", "attempt.sqlstate", "attempt.reason", "attempt.last_at"])
    .where("it.run_id", "=", runId)
    .where("it.status", "=", "parked")
    .orderBy("it.key")
    .orderBy("it.business_date")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    key: row.key,
    businessDate: row.business_date,
    sqlstate: row.sqlstate ?? undefined,
    reason: row.reason ?? undefined,
    attemptedAt: row.last_at?.toTemporalInstant(),
  }));
}

function statusOf(
  row: RunRow,
  counts: ItemCounts,
  parkedItems: readonly ParkedItem[],
): Omit<RunStatus, "crowdedCauses"> {
  const total = Number(counts.total);
  const applied = Number(counts.applied);
  const paused = Number(counts.paused);
  const parked = Number(counts.parked);
  const cancelled = Number(counts.cancelled);
  return {
    run: runOf(row),
    total,
    applied,
    due: total - applied - paused - parked - cancelled,
    paused,
    parked,
    cancelled,
    deltaMinor: BigInt(counts.delta),
    firstAppliedAt: counts.first?.toTemporalInstant(),
    lastAppliedAt: counts.last?.toTemporalInstant(),
    appliedPerSecond: rateOf(applied, counts.first, counts.last),
    parkedItems,
  };
}

function rateOf(applied: number, first: Date | null, last: Date | null): number | undefined {
  if (first === null || last === null || applied < 2) return undefined;
  const seconds = (last.getTime() - first.getTime()) / 1_000;
  return seconds > 0 ? applied / seconds : undefined;
}
