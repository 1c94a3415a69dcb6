/**
 * Gives a job another number of partitions, between nights.
 *
 * Keys move between partitions then, which is safe because fencing tokens come from one counter per job: whoever consumes
 * under the new count writes with a larger token than anybody did under the old one. It happens under the planning lock, so
 * no item is planned by the old count and committed after the new one, and only when nothing is due, so no queue of the
 * old count has work to lose.
 *
 * What is not due but may be again (parked, cancelled, paused) moves with its key. Applied items keep the partition that
 * they were applied in.
 */
import { invariant } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Expression, type RawBuilder, sql } from "kysely";
import { type Planning, planning } from "./planning.ts";
import { RunFault } from "./run-fault.ts";
import { dueItemsQuery, itemsWithoutEntry, unappliedItems } from "./unapplied-items.ts";

interface ItemIdentity {
  run_id: bigint;
  business_date: string;
  key: string;
}

export interface ResizedPartitions {
  readonly before: number;
  readonly after: number;
  /** The largest token of the new terms, which nobody holds. Undefined: the count was this one already, nothing was changed. */
  readonly fencingToken: bigint | undefined;
  /** Items that were withdrawn or paused, and are in another partition now. */
  readonly movedItems: number;
}

/**
 * Afterwards the job has `partitionCount` partitions (1 to 1024), each with a term that nobody holds and whose token is
 * larger than any before; every write under an older term is refused, also in partitions that are no more. Waits for planners
 * and for writes under way.
 *
 * Throws RunFault `items_in_flight` when items are due, SqlFault when a planner takes too long; nothing was changed then.
 * Processes that know the old count go on with it until they look again; queue jobs of applied items may be left in
 * queues of partitions that are no more.
 */
export async function resizePartitions(
  database: Database,
  job: Job,
  partitionCount: number,
): Promise<ResizedPartitions> {
  invariant(
    Number.isInteger(partitionCount) && partitionCount >= 1 && partitionCount <= 1_024,
    `job ${job.definition.name}: ${partitionCount} is no number of partitions`,
  );
  return planning(database, job, async (frame) => {
    const { partitionCount: before } = frame;
    if (before === partitionCount) return { before, after: before, fencingToken: undefined, movedItems: 0 };
    await assertNothingDue(frame);
    const fencingToken = await raiseAllTerms(frame, partitionCount);
    const movedItems = await moveItems(frame, partitionCount);
    return { before, after: partitionCount, fencingToken, movedItems };
  });
}

async function assertNothingDue(frame: Planning): Promise<void> {
  const { db, job } = frame;
  const inFlight = new Map<bigint, bigint>();
  for (const run of await runsOf(frame, sql<boolean>`(finished_at is null and cancelled_at is null)`)) {
    const { due } = await dueItemsQuery(db, job)
      .select((eb) => eb.fn.countAll<bigint>().as("due"))
      .where("it.run_id", "=", run)
      .executeTakeFirstOrThrow();
    if (due > 0n) inFlight.set(run, due);
  }
  if (inFlight.size === 0) return;
  const name = job.definition.name;
  const runs = Array.from(inFlight, ([run, due]) => `run ${run} (${due})`).join(", ");
  throw new RunFault(
    "items_in_flight",
    `job ${name}: items are due in ${runs}; partitions are resized when nothing is in flight, wait with: nightwriter status --watch`,
    {
      details: {
        job: name,
        runs: inFlight.keys().toArray().join(","),
        due: inFlight.values().reduce((sum, due) => sum + due),
      },
    },
  );
}

/** The terms first, then the counter: in the order in which a worker raises one. Waits for writes under the old terms. */
async function raiseAllTerms({ db, job }: Planning, partitionCount: number): Promise<bigint> {
  await db
    .selectFrom("nightwriter.partition_term")
    .select("partition")
    .where("job_id", "=", job.id)
    .orderBy("partition")
    .forUpdate()
    .execute();
  await db.updateTable("nightwriter.job").set({ partition_count: partitionCount }).where("id", "=", job.id).execute();
  await db
    .deleteFrom("nightwriter.partition_term")
    .where("job_id", "=", job.id)
    .where("partition", ">=", partitionCount)
    .execute();
  // The database gives each a token of its own, from the job's counter.
  await sql`
    insert into nightwriter.partition_term (job_id, partition, fencing_token, holder)
    select ${job.id}::integer, partition, 0, 'nobody'
    from generate_series(0, ${partitionCount}::integer - 1) as partition
    on conflict (job_id, partition) do update set
      nonce = gen_random_uuid(), holder = excluded.holder, since = clock_timestamp(), sealed_at = null`.execute(db);
  const { fencing_token } = await db
    .selectFrom("nightwriter.job")
    .select("fencing_token")
    .where("id", "=", job.id)
    .executeTakeFirstOrThrow();
  return fencing_token;
}

/** Of what has no entry: withdrawn items of all runs, and the others of runs that are unfinished (its key is paused) or cancelled. */
async function moveItems(frame: Planning, partitionCount: number): Promise<number> {
  const { db, job } = frame;
  const withdrawn = itemsWithoutEntry(db, job)
    .innerJoin("nightwriter.run as its", "its.id", "it.run_id")
    .select(["it.run_id", "it.business_date", "it.key"])
    .where("its.job_id", "=", job.id)
    .where("it.status", "<>", "due");
  let moved = await move(frame, withdrawn, partitionCount);
  for (const run of await runsOf(frame, sql<boolean>`(finished_at is null or cancelled_at is not null)`)) {
    const unapplied = unappliedItems(db, job)
      .select(["it.run_id", "it.business_date", "it.key"])
      .where("it.run_id", "=", run);
    moved += await move(frame, unapplied, partitionCount);
  }
  return moved;
}

async function move({ db }: Planning, items: Expression<ItemIdentity>, partitionCount: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update nightwriter.run_item as it set partition = nightwriter.partition_of(it.key, ${partitionCount}::integer)
    from ${items} as moving
    where it.run_id = moving.run_id and it.business_date = moving.business_date and it.key = moving.key
      and it.partition <> nightwriter.partition_of(it.key, ${partitionCount}::integer)`.execute(db);
  return Number(numAffectedRows);
}

/** Ids of the job's runs that are as it says; one after the other, since statistics know nothing of tonight's. */
async function runsOf({ db, job }: Pick<Planning, "db" | "job">, which: RawBuilder<boolean>): Promise<bigint[]> {
  const rows = await db
    .selectFrom("nightwriter.run")
    .select("id")
    .where("job_id", "=", job.id)
    .where(which)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}
