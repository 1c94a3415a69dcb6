/** The partition queues of the job under a prefix of their own, filled while they are paused and watched until they are empty. */
import { setTimeout } from "node:timers/promises";
import { Fault, invariant } from "@nightwriter/core";
import { connectQueues, type PartitionQueue, type Queues } from "@nightwriter/queue";
import { enqueueDue } from "@nightwriter/run";
import type { GuardedProcess } from "@nightwriter/services";
import type { Ledger, Night } from "./ledger.ts";

export interface NightQueues extends AsyncDisposable {
  readonly url: string;
  readonly prefix: string;
  /** In the order of their numbers. */
  readonly partitions: readonly PartitionQueue[];
  /** Puts the night's due items into the queues, as the scheduler does. Returns how many these were. */
  enqueue(night: Night): Promise<number>;
  /** Hands out nothing from now on. */
  pause(): Promise<void>;
  /** Hands out what waits, and resolves when `consumer` has completed all of it, with the seconds that it took. Throws if it ends before. */
  consumed(consumer: GuardedProcess): Promise<number>;
  /** Forgets every job. */
  clear(): Promise<void>;
}

type ForEach = <Result>(work: (queue: PartitionQueue) => Promise<Result>) => Promise<Result[]>;

const pollMs = 100;
const patienceMs = 240_000;

export async function openNightQueues(ledger: Ledger, url: string, prefix: string): Promise<NightQueues> {
  const queues: Queues = await connectQueues({ url, prefix, applicationName: "bench" });
  const { database, job } = ledger;
  const name = job.definition.name;
  const partitions = Array.from({ length: job.partitionCount }, (_, partition) => queues.partition(name, partition));
  const each: ForEach = async (work) => Promise.all(partitions.map(work));
  return {
    url,
    prefix,
    partitions,
    enqueue: ({ runId }) =>
      enqueueDue({ database, job, queues: { partition: (number) => queues.partition(name, number) } }, { id: runId }),
    pause: async () => void (await each(({ bullQueue }) => bullQueue.pause())),
    consumed: async (consumer) => {
      const startedAt = Date.now();
      await each(({ bullQueue }) => bullQueue.resume());
      await empty(each, consumer);
      const ends = await each(lastFinishedAt);
      return (Math.max(...ends) - startedAt) / 1_000;
    },
    clear: async () => void (await each(({ bullQueue }) => bullQueue.obliterate({ force: true }))),
    [Symbol.asyncDispose]: async () => queues.close(),
  };
}

async function empty(each: ForEach, consumer: GuardedProcess): Promise<void> {
  const untilMs = performance.now() + patienceMs;
  const isEmpty = async (queue: PartitionQueue): Promise<boolean> => {
    const { waiting, delayed, active } = await queue.counts();
    return waiting + delayed + active === 0;
  };
  while (!(await each(isEmpty)).every(Boolean)) {
    const late = performance.now() > untilMs;
    if (late || consumer.exit() !== undefined) {
      const why = late ? `after ${patienceMs / 1_000} s` : "and its consumer has ended";
      throw new Fault("queue_not_consumed", `queue: work is left ${why}; it said\n${consumer.tail().join("\n")}`);
    }
    await setTimeout(pollMs);
  }
}

/** By the consumer's clock, which is this machine's: looking comes later than the end. */
async function lastFinishedAt({ bullQueue }: PartitionQueue): Promise<number> {
  const [last] = await bullQueue.getCompleted(0, 0);
  invariant(last?.finishedOn !== undefined, `queue ${bullQueue.name}: nothing was completed`);
  return last.finishedOn;
}
