/**
 * A scheduler: the duties of each job, done by whoever of them leads.
 *
 * Any number of schedulers may run. Every duty is idempotent and decided by Postgres: with `LEASE_URL=none` all of them do all
 * of it, and the outcome is the same. A lease only saves work.
 */
import type { Config } from "@nightwriter/config";
import { type Logger, systemClock } from "@nightwriter/core";
import {
  assertSchemaCompatible,
  assertServerSupported,
  currentEpoch,
  type Database,
  type DatabaseOptions,
  openDatabase,
} from "@nightwriter/database";
import { type JobDefinition, registerJob } from "@nightwriter/job";
import { createLeaseKeeper, toleranceMs } from "@nightwriter/lease";
import { openLeaseStore } from "@nightwriter/lease-stores";
import { connectQueues, type Queues } from "@nightwriter/queue";
import { startDatabasePulse } from "./database-pulse.ts";
import { type Duties, startDuties } from "./duties.ts";
import { startLeadership } from "./leadership.ts";

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

/** A busy machine may take so long to connect: with a short lease too, no reason not to lead. */
const connectAtLeastMs = 2_000;

/** Checks what it needs and starts its duties, or to stand by. Throws a Fault, and leaves no connection behind when it does. */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  await using started = new AsyncDisposableStack();
  const { config, definitions, logger, crash } = options;
  const database = started.use(openSchedulerDatabase(config, logger, {}));
  await assertServerSupported(database);
  await assertSchemaCompatible(database);
  await currentEpoch(database);
  const jobs = await Promise.all(definitions.map((definition) => registerJob(database, definition)));
  const queues = started.use(await openQueues(config, logger));
  const planner = started.use(openSchedulerDatabase(config, logger, { max: 1, statementTimeoutMs: planTimeoutMs }));

  const startAll: StartAll = (mayBegin) =>
    jobs.map((job) => {
      const name = job.definition.name;
      const duty = {
        job,
        database,
        planner,
        queues: { partition: (partition: number) => queues.partition(name, partition) },
        catchUpDays: config.catchUpDays,
        logger: logger.child({ job: name }),
      };
      return startDuties({ config, duty, mayBegin, crash });
    });
  const duties = config.leaseUrl === "none" ? allOf(startAll(() => true)) : await standBy(options, startAll, started);
  logger.info(
    { jobs: jobs.map(({ definition }) => definition.name), lease: config.leaseUrl !== "none" },
    "scheduler ready",
  );

  const connections = started.move();
  return {
    async stop() {
      await duties.stop();
      await connections.disposeAsync();
    },
  };
}

type StartAll = (mayBegin: () => boolean) => readonly Duties[];

function allOf(duties: readonly Duties[]): Duties {
  return {
    async stop() {
      await Promise.all(duties.map((each) => each.stop()));
    },
  };
}

/** Stands for leadership. What is opened for that is closed with `started`. */
async function standBy(
  { config, logger, crash }: SchedulerOptions,
  startAll: StartAll,
  started: AsyncDisposableStack,
): Promise<Duties> {
  const { leaseMs } = config;
  const clock = systemClock;
  const random = Math.random;
  const store = started.use(
    await openLeaseStore({
      url: config.leaseUrl,
      prefix: config.queuePrefix,
      ttlMs: leaseMs,
      applicationName: `scheduler ${config.workerName}`,
      logger,
    }),
  );
  const answerMs = toleranceMs(leaseMs, 0.2);
  const probe = started.use(
    openSchedulerDatabase(config, logger, {
      max: 1,
      statementTimeoutMs: answerMs,
      queryTimeoutMs: answerMs,
      connectTimeoutMs: Math.max(answerMs, connectAtLeastMs),
    }),
  );
  const pulse = started.use(
    startDatabasePulse({ database: probe, everyMs: leaseMs / 20, silenceMs: answerMs, clock, random, crash }),
  );
  const keeper = started.use(
    createLeaseKeeper({
      store,
      holder: config.workerName,
      marginMs: config.leaseMarginMs,
      clock,
      random,
      logger,
      obstacle: () => pulse.obstacle(),
    }),
  );
  return startLeadership({
    store,
    keeper,
    startDuties: (mayBegin) => allOf(startAll(mayBegin)),
    random,
    logger,
    crash,
  });
}

type OwnLimits = Partial<Pick<DatabaseOptions, "connectTimeoutMs" | "max" | "queryTimeoutMs" | "statementTimeoutMs">>;

function openSchedulerDatabase(config: Config, logger: Logger, own: OwnLimits): Database {
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
