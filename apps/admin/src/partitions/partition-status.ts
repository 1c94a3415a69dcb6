/**
 * How the partitions of a job stand, from four places that need not agree: the lease store says who holds a partition,
 * Postgres under which token, who is alive and what is due, the queue what waits there.
 */
import { type Database, sqlFault } from "@nightwriter/database";
import { liveWorkers, type WorkerIdentity } from "@nightwriter/fleet";
import { getPartitionCount, type Job } from "@nightwriter/job";
import { countDue, type QueueCounts } from "@nightwriter/run";
import { sql } from "kysely";
import type { LeaseLook } from "./lease-look.ts";
import type { QueueLook } from "./queue-look.ts";

export interface PartitionStatus {
  readonly partition: number;
  /** Undefined: nobody, or, without leases, everybody. */
  readonly holder: string | undefined;
  /** Undefined: the holder is none of the live workers. */
  readonly worker: WorkerIdentity | undefined;
  readonly fencingToken: bigint;
  /** Since when this holder writes under this token. Undefined: it has not raised it yet, or nobody holds the partition. */
  readonly since: Temporal.Instant | undefined;
  /** As far as the store can say. */
  readonly leaseLeftMs: number | undefined;
  /** Undefined: the queue cannot be used. */
  readonly queue: QueueCounts | undefined;
  /** Items that Postgres says are due here. */
  readonly due: number;
  /** When a live or former worker last said that it had written an entry here. */
  readonly lastEntryAt: Temporal.Instant | undefined;
  /** Work waits here and no live worker will do it. */
  readonly isAbandoned: boolean;
  /** Items are due here for longer than the queue is looked after, and it does not have them: nobody will do them. */
  readonly isForgotten: boolean;
}

export interface PartitionsStatus {
  readonly workers: readonly WorkerIdentity[];
  readonly leases: LeaseLook;
  /** Why the queue is of no use now. Undefined: it is. */
  readonly queueFault: string | undefined;
  readonly partitions: readonly PartitionStatus[];
}

export interface PartitionsLook {
  readonly database: Database;
  readonly job: Job;
  /** Asks the queue for its partitions. */
  readonly queue: (partitionCount: number) => Promise<QueueLook>;
  /** How long an item may be due before it is in the queue. */
  readonly reconcileMs: number;
  /** Asks the lease store about these partitions of the job. */
  readonly leases: (partitionCount: number) => Promise<LeaseLook>;
  /** How long a worker may have been silent. */
  readonly staleMs: number;
}

/** Looks once. Throws SqlFault and what the queue throws. */
export async function lookAtPartitions(look: PartitionsLook): Promise<PartitionsStatus> {
  const { database, job } = look;
  // Again at each look: it may have been changed meanwhile.
  const partitionCount = await getPartitionCount(database, job);
  const numbers = Array.from({ length: partitionCount }, (_, partition) => partition);
  // Before what is due: an item that is done in between is missing from neither.
  const queue = await look.queue(partitionCount);
  // First and alone: a wrong URL ends it here, and no question to the others is cut off.
  const leases = await look.leases(partitionCount);
  const [workers, terms, lastEntries, due, longDue] = await Promise.all([
    liveWorkers(database, look.staleMs),
    termsOf(database, job),
    lastEntriesOf(database, job),
    countDue(database, job),
    countDue(database, job, { plannedAgoMs: look.reconcileMs }),
  ]);
  const alive = new Map(workers.map((worker) => [worker.name, worker]));
  const partitions = numbers.map((partition): PartitionStatus => {
    const counts = queue.kind === "seen" ? queue.counts[partition] : undefined;
    const { waiting = 0, delayed = 0, active = 0 } = counts ?? {};
    const term = terms.get(partition);
    const { holder, leaseLeftMs, since } = holding(leases, partition, term);
    const worker = holder === undefined ? undefined : alive.get(holder);
    const isConsumed = leases.kind === "none" ? workers.length > 0 : worker !== undefined;
    return {
      partition,
      holder,
      worker,
      fencingToken: term?.fencingToken ?? 0n,
      since,
      leaseLeftMs,
      queue: counts,
      due: due.get(partition) ?? 0,
      lastEntryAt: lastEntries.get(partition),
      isAbandoned: waiting + delayed > 0 && !isConsumed,
      isForgotten: (longDue.get(partition) ?? 0) > waiting + delayed + active,
    };
  });
  return { workers, leases, queueFault: queue.kind === "unusable" ? queue.reason : undefined, partitions };
}

/** Whether what waits and what is due will be done by somebody. */
export function isInOrder({ queueFault, partitions }: PartitionsStatus): boolean {
  return queueFault === undefined && !partitions.some((each) => each.isAbandoned || each.isForgotten);
}

interface TermRow {
  readonly fencingToken: bigint;
  readonly nonce: string;
  readonly holder: string;
  readonly since: Temporal.Instant;
  readonly isSealed: boolean;
}

/** Who holds the partition: by its lease, or, where the store cannot be asked, by its term. */
function holding(
  leases: LeaseLook,
  partition: number,
  term: TermRow | undefined,
): Pick<PartitionStatus, "holder" | "leaseLeftMs" | "since"> {
  const nobody = { holder: undefined, leaseLeftMs: undefined, since: undefined };
  switch (leases.kind) {
    case "none":
      return nobody;
    case "away":
      return term === undefined || term.isSealed || term.holder === "nobody" ? nobody : { ...nobody, ...pick(term) };
    case "seen": {
      const sight = leases.sights.get(partition);
      if (sight === undefined) return nobody;
      const isRaised = sight.nonce === term?.nonce;
      return { holder: sight.holder, leaseLeftMs: sight.leftMs, since: isRaised ? term.since : undefined };
    }
  }
}

const pick = ({ holder, since }: TermRow): Pick<PartitionStatus, "holder" | "since"> => ({ holder, since });

async function termsOf({ db }: Database, job: Job): Promise<Map<number, TermRow>> {
  const rows = await db
    .selectFrom("nightwriter.partition_term")
    .selectAll()
    .where("job_id", "=", job.id)
    .execute()
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  return new Map(
    rows.map((row) => [
      row.partition,
      {
        fencingToken: row.fencing_token,
        nonce: row.nonce,
        holder: row.holder,
        since: row.since.toTemporalInstant(),
        isSealed: row.sealed_at !== null,
      },
    ]),
  );
}

/** When each partition's last entry was written, as workers said it with their heartbeats: no table of millions is searched. */
async function lastEntriesOf({ db }: Database, job: Job): Promise<Map<number, Temporal.Instant>> {
  const { rows } = await sql<{ partition: number; at: Date }>`
    select substring(entry.key from '[0-9]+$')::integer as partition, max(entry.value::timestamptz) as at
    from nightwriter.worker, jsonb_each_text(last_entries) as entry
    where entry.key ~ ${`^${job.definition.name}/[0-9]+$`} group by 1`
    .execute(db)
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  return new Map(rows.map(({ partition, at }) => [partition, at.toTemporalInstant()]));
}
