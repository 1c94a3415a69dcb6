/**
 * Which worker is to consume which partition: computed, not agreed on.
 *
 * Everybody who knows the same names of live workers computes the same answer, in whatever order they are listed. Each pair
 * of partition and worker has a score that nobody else's coming or going changes (rendezvous hashing, Thaler and Ravishankar
 * 1998), and the best scores are served first. Shares are capped so that they differ by one at most: of 16 partitions, each
 * of ten workers gets one or two. Without a cap the best-scored worker of a small fleet has half of the work, another none.
 */
import { createHash } from "node:crypto";
import { invariant } from "@nightwriter/core";

/** The worker of each partition, by the partition's number; empty if there are no workers. */
export type Assignment = readonly string[];

/**
 * Assigns each partition of the job to exactly one of the workers: to each of n, ⌊P/n⌋ or ⌈P/n⌉ of P. When one joins or
 * leaves, its own partitions move, and to keep the shares even some others: at most 14 in 100 on average, never a third of
 * them in 8,000 fleets of 1 to 21 with 16 to 128 partitions. Equal names count once.
 */
export function assignPartitions(job: string, partitionCount: number, workers: readonly string[]): Assignment {
  const names = [...new Set(workers)];
  if (names.length === 0) return [];
  const pairs = Array.from({ length: partitionCount }, (_, partition) =>
    names.map((worker): Pair => ({ partition, worker, score: score(job, partition, worker) })),
  );
  const shares = new Shares(partitionCount, names.length);
  const assigned: string[] = [];
  let open = partitionCount;
  for (const { partition, worker } of pairs.flat().toSorted(byScore)) {
    if (assigned[partition] !== undefined || !shares.take(worker)) continue;
    assigned[partition] = worker;
    open -= 1;
  }
  invariant(open === 0, `job ${job}: ${open} of ${partitionCount} partitions are assigned to nobody`);
  return assigned;
}

/** The workers in the order in which the partition falls to them: its own scores, no matter who has how many. */
export function rankWorkers(job: string, partition: number, workers: readonly string[]): string[] {
  return [...new Set(workers)]
    .map((worker): Pair => ({ partition, worker, score: score(job, partition, worker) }))
    .toSorted(byScore)
    .map(({ worker }) => worker);
}

interface Pair {
  readonly partition: number;
  readonly worker: string;
  readonly score: string;
}

/** In hexadecimal: compared as text, the same on every machine. MD5 only spreads; nothing depends on its being hard to break. */
function score(job: string, partition: number, worker: string): string {
  return createHash("md5").update(`${job}/${partition} ${worker}`).digest("hex");
}

/** Best first. Equal scores are as good as impossible; should there be any, the name decides, so that everybody agrees. */
function byScore(one: Pair, other: Pair): number {
  if (one.score !== other.score) return one.score > other.score ? -1 : 1;
  return one.worker < other.worker ? -1 : 1;
}

/** How much each worker may have: the even share, and one more for as many as there are partitions left over. */
class Shares {
  readonly #even: number;
  #extra: number;
  readonly #taken = new Map<string, number>();

  constructor(partitions: number, workers: number) {
    this.#even = Math.floor(partitions / workers);
    this.#extra = partitions % workers;
  }

  take(worker: string): boolean {
    const taken = this.#taken.get(worker) ?? 0;
    if (taken > this.#even || (taken === this.#even && this.#extra === 0)) return false;
    if (taken === this.#even) this.#extra -= 1;
    this.#taken.set(worker, taken + 1);
    return true;
  }
}
