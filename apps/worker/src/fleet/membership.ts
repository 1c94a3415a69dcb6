/**
 * Which partitions are mine: looked up and computed anew again and again, never agreed on with anybody.
 */
import type { Database } from "@nightwriter/database";
import { assignPartitions, liveWorkers, rankWorkers } from "@nightwriter/fleet";
import { getPartitionCount, type Job } from "@nightwriter/job";
import { partitionName } from "@nightwriter/partition";

/** A partition of a job as it is now. A job whose partition count has changed is another object, and so are its partitions. */
export interface OwnPartition {
  readonly job: Job;
  readonly partition: number;
  /** 0: assigned to me. n: to somebody else, and I am the n-th to stand in for him. */
  readonly rank: number;
}

/** The partitions that this process may want, by name. */
export type Share = ReadonlyMap<string, OwnPartition>;

export interface Membership {
  /** Throws SqlFault. */
  look(): Promise<Share>;
}

export interface MembershipOptions {
  readonly database: Database;
  readonly jobs: readonly Job[];
  /** My name among the live. Undefined: there are no leases, and every partition is everybody's. */
  readonly fleet: { readonly name: string; readonly staleMs: number } | undefined;
}

export function createMembership({ database, jobs, fleet }: MembershipOptions): Membership {
  const known = new Map(jobs.map((job) => [job.id, job]));
  const sharing = fleet === undefined ? undefined : createRanking(fleet.name);
  return {
    async look() {
      const live = fleet === undefined ? [] : (await liveWorkers(database, fleet.staleMs)).map(({ name }) => name);
      const share = new Map<string, OwnPartition>();
      for (const before of known.values()) {
        const job = await asItIsNow(database, before);
        known.set(job.id, job);
        const ranks = sharing === undefined ? everything(job) : sharing(job, live);
        for (const [partition, rank] of ranks.entries())
          share.set(partitionName({ job, partition }), { job, partition, rank });
      }
      return share;
    },
  };
}

async function asItIsNow(database: Database, job: Job): Promise<Job> {
  const partitionCount = await getPartitionCount(database, job);
  return partitionCount === job.partitionCount ? job : { ...job, partitionCount };
}

function everything({ partitionCount }: Job): number[] {
  return Array.from({ length: partitionCount }, () => 0);
}

/** My rank in each partition of a job. A look that finds what the look before it found computes nothing. */
function createRanking(name: string): (job: Job, live: readonly string[]) => readonly number[] {
  const last = new WeakMap<Job, { readonly live: string; readonly ranks: readonly number[] }>();
  return (job, live) => {
    const before = last.get(job);
    const now = live.join(" ");
    if (before?.live === now) return before.ranks;
    const ranks = ranksOf(job, live, name);
    last.set(job, { live: now, ranks });
    return ranks;
  };
}

/** Nothing for a process that the others take for dead: it is to be heard of first. */
function ranksOf({ definition, partitionCount }: Job, live: readonly string[], name: string): number[] {
  if (!live.includes(name)) return [];
  return assignPartitions(definition.name, partitionCount, live).map((assigned, partition) => {
    if (assigned === name) return 0;
    const others = rankWorkers(definition.name, partition, live).filter((worker) => worker !== assigned);
    return others.indexOf(name) + 1;
  });
}
