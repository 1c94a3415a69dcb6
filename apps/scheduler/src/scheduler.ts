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
  startLockWatch,
  startThroughWeather,
} from "@nightwriter/database";
import { type ClockWatch, createClockWatch, forgetSilentSchedulers } from "@nightwriter/fleet";
import { holdClaims } from "@nightwriter/installation";
import { type JobDefinition, registerJob } from "@nightwriter/job";
import { createLeaseKeeper, type LeaseStore, toleranceMs } from "@nightwriter/lease";
import { openLeaseStore } from "@nightwriter/lease-stores";
import { connectQueues, type Queues } from "@nightwriter/queue";
import { databaseNow } from "@nightwriter/schedule";
import { type DatabasePulse, startDatabasePulse } from "./database-pulse.ts";
import { type Duties, startDuties } from "./duties.ts";
import { type Heart, startHeart } from "./heart.ts";
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
  await startThroughWeather(async () => checkDatabase(database, logger), { logger });
  const register = (definition: JobDefinition) =>
    startThroughWeather(async () => registerJob(database, definition), { logger });
  const jobs = await Promise.all(definitions.map(register));
  const queues = started.use(await openQueues(config, logger));
  const planner = started.use(openSchedulerDatabase(config, logger, { max: 1, statementTimeoutMs: planTimeoutMs }));
  await startThroughWeather(async () => forgetSilentSchedulers(database), { logger });
  const watch = createClockWatch({ clock: systemClock, logger });
  // Before it may lead: once it is known how far its clock is from the database's.
  await startThroughWeather(async () => watch.compare(() => databaseNow(database)), { logger });
  const pulse = started.use(openPulse(options, watch, started));

  const startAll: StartAll = (isMine) =>
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
      return startDuties({ config, duty, mayBegin: () => isMine() && watch.why() === undefined, crash });
    });
  const store = await openStores(options, { database, queues }, started);
  const leaseless = store === undefined;
  const heart = startHeart({
    database,
    name: config.workerName,
    watch,
    leaseless,
    random: Math.random,
    logger,
    crash,
  });
  started.defer(() => heart.stop());
  const duties = leaseless ? allOf(startAll(() => true)) : standBy(options, { startAll, pulse, heart, store }, started);
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

async function checkDatabase(database: Database, logger: Logger): Promise<void> {
  await assertServerSupported(database, (text) => logger.warn({}, text));
  await assertSchemaCompatible(database);
  await currentEpoch(database);
}

type StartAll = (mayBegin: () => boolean) => readonly Duties[];

function allOf(duties: readonly Duties[]): Duties {
  return {
    async stop() {
      await Promise.all(duties.map((each) => each.stop()));
    },
  };
}

/** Asks on a connection of its own, whose statements end soon. It is closed with `started`. */
function openPulse(
  { config, logger, crash }: SchedulerOptions,
  watch: ClockWatch,
  started: AsyncDisposableStack,
): DatabasePulse {
  const answerMs = toleranceMs(config.leaseMs, 0.2);
  const probe = started.use(
    openSchedulerDatabase(config, logger, {
      max: 1,
      statementTimeoutMs: answerMs,
      queryTimeoutMs: answerMs,
      connectTimeoutMs: Math.max(answerMs, connectAtLeastMs),
    }),
  );
  const everyMs = config.leaseMs / 20;
  const clock = systemClock;
  return startDatabasePulse({
    database: probe,
    everyMs,
    silenceMs: answerMs,
    clock,
    watch,
    random: Math.random,
    crash,
  });
}

type Connected = { readonly database: Database; readonly queues: Queues };

/** The store of leases, if there are any, after both stores were found to be this installation's: from now on they are compared. */
async function openStores(
  { config, logger, crash }: SchedulerOptions,
  { database, queues }: Connected,
  started: AsyncDisposableStack,
): Promise<LeaseStore | undefined> {
  const { leaseUrl: url, queuePrefix: prefix, leaseMs } = config;
  const name = `scheduler ${config.workerName}`;
  const leases = { url, prefix, ttlMs: leaseMs, applicationName: name, logger };
  const store = url === "none" ? undefined : started.use(await openLeaseStore(leases));
  const slots = [queues.claimSlot, ...(store === undefined ? [] : [store.claimSlot])];
  started.use(await holdClaims({ database, prefix, slots, by: name, leaseMs, clock: systemClock, logger, crash }));
  return store;
}

interface Standing {
  readonly startAll: StartAll;
  readonly pulse: DatabasePulse;
  readonly heart: Heart;
  readonly store: LeaseStore;
}

/** Stands for leadership. What is opened for that is closed with `started`. */
function standBy(
  { config, logger, crash }: SchedulerOptions,
  { startAll, pulse, heart, store }: Standing,
  started: AsyncDisposableStack,
): Duties {
  const keeper = started.use(
    createLeaseKeeper({
      store,
      holder: config.workerName,
      marginMs: config.leaseMarginMs,
      clock: systemClock,
      random: Math.random,
      logger,
      obstacle: () => pulse.obstacle(),
    }),
  );
  return startLeadership({
    store,
    keeper,
    startDuties: (mayBegin) => allOf(startAll(mayBegin)),
    noteLeading: (leads) => heart.noteLeading(leads),
    random: Math.random,
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
    watchLocks: startLockWatch,
    url: config.queueUrl,
    prefix: config.queuePrefix,
    applicationName: `scheduler ${config.workerName}`,
    poolSize: config.queuePoolSize,
    logger,
  });
}
