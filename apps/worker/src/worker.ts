/**
 * A worker: every partition of every job, consumed by one process over a few connections.
 *
 * Without leases all workers consume all partitions. Whoever assigns partitions later starts and stops partition
 * consumers one by one; nothing below this file knows how many there are.
 */

import type { Config } from "@nightwriter/config";
import { type Logger, systemClock } from "@nightwriter/core";
import {
  assertSchemaCompatible,
  assertServerSupported,
  currentEpoch,
  type Database,
  openDatabase,
} from "@nightwriter/database";
import { type Job, type JobDefinition, registerJob } from "@nightwriter/job";
import { readTerms } from "@nightwriter/partition";
import { type Consumer, connectQueues, type Queues } from "@nightwriter/queue";
import { type ConsumedPartition, type ConsumerContext, startPartitionConsumer } from "./partition-consumer.ts";
import { createStatementSlots } from "./statement-slots.ts";
import { createTally, type Tally } from "./tally.ts";
import { readTermsOnce } from "./term-reader.ts";
import { watchQueues } from "./watchdog.ts";

export interface Worker {
  /** Fetches nothing any more, settles what is in hand, closes every connection. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  readonly config: Config;
  readonly definitions: readonly JobDefinition[];
  readonly logger: Logger;
  /** Called with what nobody can handle; must end the process. */
  readonly crash: (bug: unknown) => void;
}

const summaryEveryMs = 10_000;

/** Checks what it needs and starts to consume. Throws a Fault, and leaves no connection behind when it does. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  await using started = new AsyncDisposableStack();
  const { config, logger, crash } = options;
  const stop = new AbortController();
  const tally = createTally(systemClock);

  const database = started.use(openWorkerDatabase(config, logger));
  await checkDatabase(database);
  const jobs = await Promise.all(options.definitions.map((definition) => registerJob(database, definition)));
  const queues = started.use(await openQueues(config, logger));
  const consumers = await consumeAll(jobs, {
    database,
    queues,
    slots: createStatementSlots(config.databasePoolSize),
    tally,
    logger,
    worker: config.workerName,
    batchSize: config.batchSize,
    concurrency: config.workerConcurrency,
    stopping: stop.signal,
    crash,
  });
  void watch(jobs, queues, { stopping: stop.signal, logger, crash });
  const summaries = setInterval(() => logSummary(tally, logger), summaryEveryMs);
  logger.info({ jobs: jobs.map(({ definition }) => definition.name), partitions: consumers.length }, "worker ready");

  const connections = started.move();
  return {
    async stop() {
      stop.abort();
      clearInterval(summaries);
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      logSummary(tally, logger);
      await connections.disposeAsync();
    },
  };
}

function openWorkerDatabase(config: Config, logger: Logger): Database {
  return openDatabase({
    url: config.databaseUrl,
    applicationName: config.workerName,
    max: config.databasePoolSize,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    queryTimeoutMs: config.queryTimeoutMs,
    logger,
  });
}

async function checkDatabase(database: Database): Promise<void> {
  await assertServerSupported(database);
  await assertSchemaCompatible(database);
  await currentEpoch(database);
}

async function openQueues(config: Config, logger: Logger): Promise<Queues> {
  return connectQueues({
    url: config.queueUrl,
    prefix: config.queuePrefix,
    applicationName: config.workerName,
    poolSize: config.queuePoolSize,
    logger,
  });
}

async function consumeAll(jobs: readonly Job[], context: ConsumerContext): Promise<Consumer[]> {
  const consumed = await Promise.all(jobs.map((job) => partitionsOf(context.database, job)));
  return consumed.flat().map((each) => startPartitionConsumer(context, each));
}

/** Without leases: all of them. */
async function partitionsOf(database: Database, job: Job): Promise<ConsumedPartition[]> {
  const terms = await readTermsOnce(() => readTerms(database, job));
  return Array.from({ length: job.partitionCount }, (_, partition) => ({ job, partition, terms }));
}

async function watch(
  jobs: readonly Job[],
  queues: Queues,
  { stopping, logger, crash }: Pick<ConsumerContext, "stopping" | "logger" | "crash">,
): Promise<void> {
  const watched = jobs.flatMap(({ definition, partitionCount }) =>
    Array.from({ length: partitionCount }, (_, partition) => {
      const queue = queues.partition(definition.name, partition);
      return { name: queue.name, counts: () => queue.counts(), isPaused: () => queue.bullQueue.isPaused() };
    }),
  );
  const onHalt = (queue: string): void => crash(new Error(`queue ${queue}: work waits and nothing is active; restart`));
  await watchQueues({ queues: watched, stopping, logger, onHalt });
}

function logSummary(tally: Tally, logger: Logger): void {
  const { counts, ...rates } = tally.lap();
  if (Object.keys(counts).length === 0) return;
  const rssMib = Math.round(process.memoryUsage.rss() / 2 ** 20);
  logger.info({ ...rates, ...counts, rssMib }, "summary");
}
