/** Planning and enqueueing a night, and adding the same jobs with bare BullMQ. */
import { invariant } from "@nightwriter/core";
import { queueJobId } from "@nightwriter/queue";
import { dueItems, ensureNightlyRun } from "@nightwriter/run";
import { type BulkJobOptions, Queue } from "bullmq";
import { Redis } from "ioredis";
import { measurePairs } from "../figure.ts";
import { addSales, finishNight, type Ledger, type Night } from "../ledger.ts";
import { type NightQueues, openNightQueues } from "../night-queues.ts";
import { setBasedWrite } from "../set-based-write.ts";
import type { Row } from "./row.ts";

const secondsPerPair = 10;
/** How many jobs go in one call, and how many calls are under way: as in packages/run. */
const chunkSize = 500;
const lanes = 4;

export const planningRow: Row = {
  name: "planning",
  seconds: ({ effort }, pairCount) => effort * secondsPerPair * (pairCount + 1),
  async measure({ ordinary, redisUrl, scale, progress, pairCount }) {
    await using queues = await openNightQueues(ordinary, redisUrl, "planned");
    await using bare = openBareQueues(ordinary, redisUrl);
    const pairs = await measurePairs(pairCount, async (pair) => {
      progress.begin(`planning: pair ${pair} of ${pairCount}`, scale.effort * secondsPerPair);
      const businessDate = ordinary.nextDate();
      await addSales(ordinary, businessDate, scale);
      const startMs = performance.now();
      const { run } = await ensureNightlyRun(ordinary.database, ordinary.job, Temporal.PlainDate.from(businessDate));
      const night: Night = { runId: run.id, businessDate, itemCount: scale.keyCount };
      const enqueued = await queues.enqueue(night);
      const ours = (enqueued * 1_000) / (performance.now() - startMs);
      invariant(enqueued === scale.keyCount, `night of ${scale.keyCount}: ${enqueued} were enqueued`);

      const theirs = await bare.add(await bareJobs(ordinary, night, queues));
      await setBasedWrite(ordinary, night);
      await finishNight(ordinary, night);
      await Promise.all([queues.clear(), bare.clear()]);
      return { ours, theirs };
    });
    return [
      {
        name: "planning",
        what: `planning and enqueueing ${scale.keyCount.toLocaleString("en")} items ÷ bare addBulk of the same jobs`,
        unit: "items/s",
        valueUnit: "",
        bound: { atLeast: 0.7 },
        pairs,
      },
    ];
  },
};

interface BareJob {
  readonly name: string;
  readonly data: object;
  readonly opts: BulkJobOptions;
}

/** The night's jobs by partition, equal to those that the product has put into `queues`: name, data, id and options. */
async function bareJobs(ledger: Ledger, { runId }: Night, queues: NightQueues): Promise<Map<number, BareJob[]>> {
  const [sample] = (await queues.partitions[0]?.bullQueue.getWaiting(0, 0)) ?? [];
  invariant(sample !== undefined, "the night is in the queue");
  const jobs = new Map<number, BareJob[]>();
  for await (const page of dueItems(ledger.database, ledger.job, { runId })) {
    for (const { partition, ...data } of page) {
      const own = jobs.get(partition) ?? [];
      own.push({ name: sample.name, data, opts: { ...sample.opts, jobId: queueJobId(data) } });
      jobs.set(partition, own);
    }
  }
  return jobs;
}

interface BareQueues extends AsyncDisposable {
  /** Adds the jobs and returns how many a second. */
  add(jobs: ReadonlyMap<number, readonly BareJob[]>): Promise<number>;
  clear(): Promise<void>;
}

function openBareQueues({ job }: Ledger, url: string): BareQueues {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queues = Array.from(
    { length: job.partitionCount },
    (_, partition) =>
      new Queue(`{${job.definition.name}-${partition}}`, {
        connection,
        prefix: "added",
        streams: { events: { maxLen: 1_000 } },
      }),
  );
  return {
    add: async (jobs) => {
      const chunks = [...jobs].flatMap(([partition, own]) =>
        Array.from({ length: Math.ceil(own.length / chunkSize) }, (_, index) => ({
          queue: queues[partition],
          some: own.slice(index * chunkSize, (index + 1) * chunkSize),
        })),
      );
      const count = [...jobs.values()].flat().length;
      const drain = async (): Promise<void> => {
        for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
          await chunk.queue?.addBulk(chunk.some);
        }
      };
      const startMs = performance.now();
      await Promise.all(Array.from({ length: lanes }, drain));
      return (count * 1_000) / (performance.now() - startMs);
    },
    clear: async () => void (await Promise.all(queues.map((queue) => queue.obliterate({ force: true })))),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
      await connection.quit();
    },
  };
}
