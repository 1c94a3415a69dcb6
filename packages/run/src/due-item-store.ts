/**
 * What is due: items of runs that are neither finished nor cancelled, with status `due`, without a ledger entry, their key not
 * paused. Postgres alone says so; a queue is a cache of it.
 */
import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Kysely, sql } from "kysely";
import type { QueueItem } from "./item-queue.ts";
import { dueItemsQuery, type ItemQuery } from "./unapplied-items.ts";

/** An item that waits to be applied. */
export interface DueItem extends QueueItem {
  readonly partition: number;
}

/** The part of a due item that goes into the queue. */
export function queueItemOf({ runId, key, businessDate, generation }: DueItem): QueueItem {
  return { runId, key, businessDate, generation };
}

/** Which due items are meant. Empty: all of the job. */
export interface DueFilter {
  /** One run only. Default: all runs of the job. */
  readonly runId?: bigint;
  /** Of runs that were planned longer ago only. Default: all. */
  readonly plannedAgoMs?: number;
  /** Of these partitions only. Default: all. */
  readonly partitions?: readonly number[];
}

/** Large enough that a round trip does not count, small enough that a million items are never in memory. */
const pageSize = 5_000;

/** An empty text is below every key. */
const beforeFirst = { businessDate: "-infinity", key: "" };

/**
 * The due items, page by page, in order of run, business date and key. Pages are statements of their own, so what becomes
 * due or is applied meanwhile may or may not be seen; nothing that is due all the time is missed. The next page is
 * read while the caller works at the one before. Throws SqlFault.
 */
export async function* dueItems(database: Database, job: Job, filter: DueFilter = {}): AsyncGenerator<DueItem[]> {
  for (const runId of await liveRuns(database, job, filter)) {
    let next: Promise<DueItem[]> | undefined = readPage(database, { job, runId, filter, after: beforeFirst });
    while (next !== undefined) {
      const page: DueItem[] = await next;
      const after = page.length < pageSize ? undefined : page.at(-1);
      next = after === undefined ? undefined : readPage(database, { job, runId, filter, after });
      // Whoever stops in the middle never awaits the page that was read ahead.
      next?.catch(() => undefined);
      if (page.length > 0) yield page;
    }
  }
}

/** How many items are due, by partition; partitions without any are absent. Throws SqlFault. */
export async function countDue(database: Database, job: Job, filter: DueFilter = {}): Promise<Map<number, number>> {
  try {
    const counts = new Map<number, number>();
    for (const runId of await liveRuns(database, job, filter)) {
      const rows = await dueOf(database.db, job, { ...filter, runId })
        .select((eb) => ["it.partition", eb.fn.countAll<bigint>().as("count")])
        .groupBy("it.partition")
        .execute();
      for (const row of rows) counts.set(row.partition, (counts.get(row.partition) ?? 0) + Number(row.count));
    }
    return counts;
  } catch (error) {
    throw sqlFault(error);
  }
}

async function liveRuns({ db }: Database, job: Job, { runId, plannedAgoMs }: DueFilter): Promise<bigint[]> {
  try {
    const rows = await db
      .selectFrom("nightwriter.run")
      .select("id")
      .where("job_id", "=", job.id)
      .where("finished_at", "is", null)
      .where("cancelled_at", "is", null)
      .$if(runId !== undefined, (query) => query.where("id", "=", runId ?? null))
      .$if(plannedAgoMs !== undefined, (query) =>
        query.where("planned_at", "<", sql<Date>`now() - ${plannedAgoMs}::float8 * interval '1 ms'`),
      )
      .orderBy("id")
      .execute();
    return rows.map((row) => row.id);
  } catch (error) {
    throw sqlFault(error);
  }
}

interface Page {
  readonly job: Job;
  readonly runId: bigint;
  readonly filter: DueFilter;
  readonly after: { readonly businessDate: string; readonly key: string };
}

/** Reads along the primary key, which is in this order and begins with the run. */
async function readPage({ db }: Database, { job, runId, filter, after }: Page): Promise<DueItem[]> {
  try {
    const rows = await dueOf(db, job, { ...filter, runId })
      .select(["it.business_date", "it.key", "it.partition", "it.generation"])
      .where((eb) => eb(eb.refTuple("it.business_date", "it.key"), ">", eb.tuple(after.businessDate, after.key)))
      .orderBy("it.business_date")
      .orderBy("it.key")
      .limit(pageSize)
      .execute();
    return rows.map((row) => ({
      runId: runId.toString(),
      key: row.key,
      businessDate: row.business_date,
      generation: row.generation,
      partition: row.partition,
    }));
  } catch (error) {
    throw sqlFault(error);
  }
}

function dueOf(db: Kysely<Schema>, job: Job, { runId, partitions }: DueFilter & { runId: bigint }): ItemQuery {
  return dueItemsQuery(db, job)
    .where("it.run_id", "=", runId)
    .$if(partitions !== undefined, (query) =>
      query.where("it.partition", "=", sql<number>`any(${partitions}::integer[])`),
    );
}
