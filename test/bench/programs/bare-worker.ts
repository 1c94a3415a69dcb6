/**
 * BullMQ with a processor that does nothing, on the queues of a night: the most that a process can consume. Everything else
 * is as in packages/queue: the layout of connections, the locks, what is kept of completed jobs.
 */
import { Worker } from "bullmq";
import { Redis } from "ioredis";

export interface BareWorkerOptions {
  readonly url: string;
  readonly prefix: string;
  readonly queues: readonly string[];
  readonly concurrency: number;
}

const { url, prefix, queues, concurrency } = JSON.parse(process.env["BARE_WORKER"] ?? "") as BareWorkerOptions;
const connection = new Redis(url, { maxRetriesPerRequest: null });
const workers = queues.map(
  (name) =>
    new Worker(name, async () => Promise.resolve(null), {
      connection,
      prefix,
      concurrency,
      lockDuration: 10_000,
      stalledInterval: 5_000,
      maxStalledCount: 100,
      removeOnComplete: { age: 24 * 3_600, count: 1_000 },
      removeOnFail: { age: 14 * 24 * 3_600, count: 5_000 },
    }),
);
for (const worker of workers) worker.on("error", (error) => console.error(error));
await Promise.all(workers.map((worker) => worker.waitUntilReady()));
process.once("SIGTERM", () => process.exit(0));
console.log("bare worker ready");
