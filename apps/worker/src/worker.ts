/**
 * A worker: one process of the fleet, which consumes the partitions that fall to it over a few connections.
 *
 * This file opens what is needed and puts it together. Which partitions are consumed is the fleet member's business;
 * nothing below it knows how many there are, or that there are leases.
 */

import type { Config } from "@nightwriter/config";
import { type Logger, systemClock } from "@nightwriter/core";
import {
  assertSchemaCompatible,
  assertServerSupported,
  currentEpoch,
  type Database,
  openDatabase,
  startLockWatch,
  startThroughWeather,
} from "@nightwriter/database";
import { forgetSilentWorkers, staleAfterMs } from "@nightwriter/fleet";
import { holdClaims } from "@nightwriter/installation";
import { type JobDefinition, registerJob } from "@nightwriter/job";
import { createLeaseObstacle, toleranceMs } from "@nightwriter/lease";
import { connectQueues, type Queues } from "@nightwriter/queue";
import { type ConsumerContext, startPartitionConsumer } from "./consumption/partition-consumer.ts";
import { createFailureReports } from "./consumption/report-failures.ts";
import { type FleetMember, type FleetMemberOptions, joinFleet, silenceShare } from "./fleet/fleet-member.ts";
import { createHeart } from "./fleet/heartbeat.ts";
import { createHoldings, type Holdings } from "./fleet/holdings.ts";
import { createMembership } from "./fleet/membership.ts";
import { openLeases } from "./fleet/open-leases.ts";
import { takingWithLeases, takingWithoutLeases } from "./fleet/take-partition.ts";
import { fleetLimits, writeLimits } from "./limits.ts";
import { createStatementSlots } from "./statement-slots.ts";
import { createTally, type Tally } from "./tally.ts";
import { watchQueues } from "./watchdog.ts";

export interface Worker {
  /** Leaves the fleet, fetches nothing any more, settles what is in hand, closes every connection. */
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

/** Heartbeats and looks on one, terms on the other. */
const fleetConnections = 2;

/** Checks what it needs and starts to consume. Throws a Fault, and leaves no connection behind when it does. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  await using started = new AsyncDisposableStack();
  const { config, logger, crash } = options;
  const stop = new AbortController();
  const tally = createTally(systemClock);

  const database = started.use(openWritePool(config, logger));
  await startThroughWeather(async () => checkDatabase(database, logger), { logger });
  const queues = started.use(await openQueues(config, logger));
  const context: ConsumerContext = {
    database,
    queues,
    slots: createStatementSlots(config.databasePoolSize),
    tally,
    reports: createFailureReports(logger, systemClock),
    logger,
    worker: config.workerName,
    batchSize: config.batchSize,
    concurrency: config.workerConcurrency,
    crash,
  };
  const { member, holdings } = await takePart(options, context, started);
  void watch(holdings, queues, { stopping: stop.signal, logger, crash });
  const summaries = setInterval(() => logSummary(tally, logger), summaryEveryMs);
  const jobs = options.definitions.map(({ name }) => name);
  logger.info({ jobs, partitions: holdings.consuming().length, lease: config.leaseUrl !== "none" }, "worker ready");

  const connections = started.move();
  return {
    async stop() {
      stop.abort();
      clearInterval(summaries);
      await member.leave();
      logSummary(tally, logger);
      await connections.disposeAsync();
    },
  };
}

/** Joins the fleet. What is opened for that is closed with `started`. */
async function takePart(
  { config, definitions, logger, crash }: WorkerOptions,
  context: ConsumerContext,
  started: AsyncDisposableStack,
): Promise<{ member: FleetMember; holdings: Holdings }> {
  const clock = systemClock;
  const { workerName: name, leaseMs } = config;
  const database = started.use(openFleetPool(config, logger));
  const register = (definition: JobDefinition) =>
    startThroughWeather(async () => registerJob(context.database, definition), { logger });
  const jobs = await Promise.all(definitions.map(register));
  await startThroughWeather(async () => forgetSilentWorkers(context.database), { logger });
  const obstacle = createLeaseObstacle(clock, toleranceMs(leaseMs, 0.2));
  const queue = config.leaseUrl === "none" ? undefined : watchedQueue(context.queues, leaseMs);
  const why = (): string | undefined => obstacle.why() ?? queue?.obstacle.why();
  const leases =
    config.leaseUrl === "none" ? undefined : await openLeases({ config, obstacle: { why }, clock, logger });
  if (leases !== undefined) started.use(leases);
  const slots = [context.queues.claimSlot, ...(leases === undefined ? [] : [leases.claimSlot])];
  const { queuePrefix: prefix } = config;
  started.use(await holdClaims({ database: context.database, prefix, slots, by: name, leaseMs, clock, logger, crash }));
  const holdings = createHoldings({
    take:
      leases === undefined
        ? takingWithoutLeases(database)
        : takingWithLeases({ database, leases: leases.keeper, worker: name }),
    consume: ({ job, partition }, warrant, leaving) =>
      startPartitionConsumer(context, { job, partition, warrant, leaving }),
    drainMs: leases === undefined ? undefined : Math.min(leaseMs, config.shutdownTimeoutMs / 2),
    unheldMs: (partition) => leases?.unheld.unheldMs(partition) ?? 0,
    patienceMs: leaseMs + 2_000,
    standInMs: leaseMs * 10,
    clock,
    logger,
    crash,
  });
  const fleet = leases === undefined ? undefined : { name, staleMs: staleAfterMs(leaseMs) };
  const member = await joinFleet({
    heart: createHeart({ database, name, tally: context.tally, clock }),
    membership: createMembership({ database, jobs, fleet }),
    holdings,
    obstacle,
    leases,
    queue,
    leaseMs,
    logger,
    crash,
  });
  return { member, holdings };
}

/** Who cannot fetch must not keep others from it. A queue in Postgres is not asked: a question waits there behind all jobs in flight. */
function watchedQueue(queues: Queues, leaseMs: number): FleetMemberOptions["queue"] {
  if (queues.kind !== "redis") return undefined;
  const obstacle = createLeaseObstacle(systemClock, toleranceMs(leaseMs, silenceShare), "the queue's store");
  return { obstacle, ping: () => queues.ping() };
}

function openWritePool(config: Config, logger: Logger): Database {
  return openDatabase({
    url: config.databaseUrl,
    applicationName: config.workerName,
    max: config.databasePoolSize,
    indexLookups: true,
    ...writeLimits(config),
    logger,
  });
}

function openFleetPool(config: Config, logger: Logger): Database {
  return openDatabase({
    url: config.databaseUrl,
    applicationName: `${config.workerName} fleet`,
    max: fleetConnections,
    ...fleetLimits(config),
    logger,
  });
}

async function checkDatabase(database: Database, logger: Logger): Promise<void> {
  await assertServerSupported(database, (text) => logger.warn({}, text));
  await assertSchemaCompatible(database);
  await currentEpoch(database);
}

async function openQueues(config: Config, logger: Logger): Promise<Queues> {
  return connectQueues({
    watchLocks: startLockWatch,
    url: config.queueUrl,
    prefix: config.queuePrefix,
    applicationName: config.workerName,
    poolSize: config.queuePoolSize,
    logger,
  });
}

async function watch(
  holdings: Holdings,
  queues: Queues,
  { stopping, logger, crash }: { stopping: AbortSignal } & Pick<ConsumerContext, "logger" | "crash">,
): Promise<void> {
  const consumed = () =>
    holdings.consuming().map(({ job, partition }) => {
      const queue = queues.partition(job.definition.name, partition);
      return { name: queue.name, counts: () => queue.counts(), isPaused: () => queue.bullQueue.isPaused() };
    });
  const onHalt = (queue: string): void => crash(new Error(`queue ${queue}: work waits and nothing is active; restart`));
  await watchQueues({ queues: consumed, stopping, logger, onHalt });
}

function logSummary(tally: Tally, logger: Logger): void {
  const { counts, ...rates } = tally.lap();
  if (Object.keys(counts).length === 0) return;
  const rssMib = Math.round(process.memoryUsage.rss() / 2 ** 20);
  logger.info({ ...rates, ...counts, rssMib }, "summary");
}
