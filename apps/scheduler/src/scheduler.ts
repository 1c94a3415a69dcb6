/**
 * A scheduler: for each job a tick that hints at a night, a loop that catches up on nights, and one that mends the queue.
 *
 * Any number of schedulers may run. Every duty is idempotent and decided by Postgres, so none of them leads.
 */
import type { Config } from "@nightwriter/config";
import { InvariantError, type Logger, systemClock } from "@nightwriter/core";
import {
  assertSchemaCompatible,
  assertServerSupported,
  currentEpoch,
  type Database,
  openDatabase,
} from "@nightwriter/database";
import { type JobDefinition, registerJob } from "@nightwriter/job";
import { connectQueues, type Queues } from "@nightwriter/queue";
import { catchUp } from "./catch-up.ts";
import { startCronHint } from "./cron-hint.ts";
import type { Duty } from "./duty.ts";
import { startLoop } from "./loop.ts";
import { mendQueue } from "./mend-queue.ts";
import { runNight } from "./run-night.ts";

export interface Scheduler {
  /** Begins no duty any more, finishes the ones under way, closes every connection. */
  stop(): Promise<void>;
}

export interface SchedulerOptions {
  readonly config: Config;
  readonly definitions: readonly JobDefinition[];
  readonly logger: Logger;
  /** Called with a bug, which nobody can handle; must end the process. */
  readonly crash: (bug: unknown) => void;
}

/** A plan after a long pause sums a long history. Nobody waits for it but planners. */
const planTimeoutMs = 600_000;

/** Checks what it needs and starts its duties. Throws a Fault, and leaves no connection behind when it does. */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  await using started = new AsyncDisposableStack();
  const { config, definitions, logger } = options;
  const database = started.use(openSchedulerDatabase(config, logger, {}));
  await assertServerSupported(database);
  await assertSchemaCompatible(database);
  await currentEpoch(database);
  const jobs = await Promise.all(definitions.map((definition) => registerJob(database, definition)));
  const queues = started.use(await openQueues(config, logger));
  const planner = started.use(openSchedulerDatabase(config, logger, { max: 1, statementTimeoutMs: planTimeoutMs }));

  const duties = jobs.flatMap((job) => {
    const name = job.definition.name;
    return startDuties(options, {
      job,
      database,
      planner,
      queues: { partition: (partition) => queues.partition(name, partition) },
      clock: systemClock,
      catchUpDays: config.catchUpDays,
      logger: logger.child({ job: name }),
    });
  });
  logger.info({ jobs: jobs.map(({ definition }) => definition.name) }, "scheduler ready");

  const connections = started.move();
  return {
    async stop() {
      await Promise.all(duties.map((duty) => duty.stop()));
      await connections.disposeAsync();
    },
  };
}

function startDuties({ config, crash }: SchedulerOptions, duty: Duty): { stop(): Promise<void> }[] {
  // One duty at a time: a reconciler beside an enqueuer would find missing what is about to come.
  let before: Promise<void> = Promise.resolve();
  const attempt = async (name: string, work: () => Promise<void>): Promise<void> => {
    // What failed is tried again: by the loop itself in its next round, for the hint by the catch-up.
    before = before.then(work).catch((error: unknown) => {
      if (error instanceof InvariantError) crash(error);
      duty.logger.error({ duty: name, err: error }, "duty failed; will be tried again");
    });
    return before;
  };
  const loop = (name: string, everyMs: number, work: () => Promise<void>) =>
    startLoop({ everyMs, random: Math.random, work: () => attempt(name, work) });
  return [
    startCronHint(duty, (businessDate) => attempt("cron hint", () => runNight(duty, businessDate))),
    loop("catch-up", config.catchUpIntervalMs, () => catchUp(duty)),
    loop("mend queue", config.reconcileIntervalMs, () => mendQueue(duty)),
  ];
}

function openSchedulerDatabase(
  config: Config,
  logger: Logger,
  own: { readonly max?: number; readonly statementTimeoutMs?: number },
): Database {
  return openDatabase({
    url: config.databaseUrl,
    applicationName: `scheduler ${config.workerName}`,
    max: config.databasePoolSize,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    ...(own.statementTimeoutMs === undefined && { queryTimeoutMs: config.queryTimeoutMs }),
    logger,
    ...own,
  });
}

async function openQueues(config: Config, logger: Logger): Promise<Queues> {
  return connectQueues({
    url: config.queueUrl,
    prefix: config.queuePrefix,
    applicationName: `scheduler ${config.workerName}`,
    poolSize: config.queuePoolSize,
    logger,
  });
}
