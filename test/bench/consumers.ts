/** The two processes that consume a night: the product's worker, and BullMQ with nothing to do. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Fault } from "@nightwriter/core";
import { type GuardedProcess, startGuarded } from "@nightwriter/services";
import type { NightQueues } from "./night-queues.ts";
import type { BareWorkerOptions } from "./programs/bare-worker.ts";

const root = resolve(import.meta.dirname, "../..");
/** The default of WORKER_CONCURRENCY, said for both. */
const concurrency = 200;
const startMs = 60_000;

/** Starts the worker as it is started in production, and returns when it consumes. `leaseUrl`: default, the queue's Redis. */
export async function startWorker(
  { url, prefix }: NightQueues,
  databaseUrl: string,
  leaseUrl: string = url,
): Promise<GuardedProcess> {
  return startProgram("apps/worker/src/main.ts", "worker ready", {
    DATABASE_URL: databaseUrl,
    QUEUE_URL: url,
    QUEUE_PREFIX: prefix,
    LEASE_URL: leaseUrl,
    WORKER_NAME: "bench-worker",
    WORKER_CONCURRENCY: String(concurrency),
    LOG_LEVEL: "info",
    LOG_FORMAT: "json",
    NODE_ENV: "production",
  });
}

/** Starts bare BullMQ on the same queues. */
export async function startBareWorker({ url, prefix, partitions }: NightQueues): Promise<GuardedProcess> {
  const options: BareWorkerOptions = { url, prefix, queues: partitions.map(({ name }) => name), concurrency };
  return startProgram("test/bench/programs/bare-worker.ts", "bare worker ready", {
    BARE_WORKER: JSON.stringify(options),
    NODE_ENV: "production",
  });
}

async function startProgram(
  entry: string,
  ready: string,
  environment: Readonly<Record<string, string>>,
): Promise<GuardedProcess> {
  const isReady = Promise.withResolvers<boolean>();
  const program = await startGuarded({
    file: process.execPath,
    args: [entry],
    folder: root,
    environment,
    log: (line) => line.includes(ready) && isReady.resolve(true),
  });
  const late = setTimeout(isReady.resolve, startMs, false);
  const started = await Promise.race([isReady.promise, program.closed.then(() => false)]);
  clearTimeout(late);
  if (started) return program;
  const tail = program.tail().join("\n");
  await program[Symbol.asyncDispose]();
  throw new Fault("program_not_started", `${entry}: did not say ${JSON.stringify(ready)}; it said\n${tail}`);
}

/** The most memory that the process has had in use at a time, in MB; undefined where the system does not tell. */
export async function peakMemoryMb({ pid }: GuardedProcess): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return kib === undefined ? undefined : (Number(kib) * 1_024) / 1_000_000;
}
