/** A night that is due, and schedulers as real processes to see to it. */

import type { Database } from "@nightwriter/database";
import { type Job, registerJob } from "@nightwriter/job";
import { connectQueues, type PartitionQueue } from "@nightwriter/queue";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { type RunStatus, runStatus } from "@nightwriter/run";
import { businessDateOf } from "@nightwriter/schedule";
import {
  type App,
  makeRestaurants,
  mutatedBuild,
  type QueueStore,
  spawnApp,
  testDatabase,
  testQueue,
} from "@nightwriter/testkit";
import { sql } from "kysely";
import { expect } from "vitest";

export interface DueNight extends AsyncDisposable {
  readonly database: Database;
  readonly db: Database["db"];
  readonly databaseUrl: string;
  readonly job: Job;
  readonly queue: { readonly url: string; readonly prefix: string };
  readonly partitions: readonly PartitionQueue[];
  /** The night that should exist by now, and does not. */
  readonly businessDate: Temporal.PlainDate;
  readonly restaurants: number;
  /** Starts a scheduler; does not wait for it. */
  start(environment?: Readonly<Record<string, string>>): Promise<App>;
  /** The runs of the night's date. */
  runs(): Promise<RunStatus[]>;
  /** Jobs that wait in the queue. */
  waiting(): Promise<number>;
}

export interface DueNightOptions {
  readonly store: QueueStore;
  readonly restaurants: number;
  /** Default: a prefix or a database of the test run's servers. */
  readonly queueUrl?: string;
}

/**
 * Nights are due at the hour that is twelve hours from now: the last one was long before the test, and the next one is long after it,
 * at whatever time of day it runs.
 */
function quietCron(): string {
  return `0 ${(Temporal.Now.zonedDateTimeISO("UTC").hour + 12) % 24} * * *`;
}

/** Registers the job as if two days ago, so that exactly one night is due and missing to a scheduler that looks back one day. */
export async function dueNight({ store, restaurants, queueUrl }: DueNightOptions): Promise<DueNight> {
  await using stack = new AsyncDisposableStack();
  const { database, db, url } = stack.use(await testDatabase());
  const queue = queueUrl === undefined ? stack.use(await testQueue(store)) : { url: queueUrl, prefix: "test" };
  const queues = stack.use(await connectQueues({ ...queue, applicationName: "test-of-the-scheduler" }));
  await makeRestaurants(db, restaurants);
  const definition = { ...restaurantTotals, cron: quietCron() };
  const job = await registerJob(database, definition);
  const sameCron = mutatedBuild({
    file: "packages/restaurant-totals/src/restaurant-totals.ts",
    replace: `cron: "${restaurantTotals.cron}"`,
    by: `cron: "${definition.cron}"`,
  });
  await sql`update nightwriter.job set created_at = now() - interval '2 days'`.execute(db);
  const businessDate = businessDateOf(job, Temporal.Now.instant());
  if (businessDate === undefined) throw new Error("the job has a night every day");
  const partitions = Array.from({ length: job.partitionCount }, (_, partition) =>
    queues.partition(job.definition.name, partition),
  );
  const resources = stack.move();
  return {
    database,
    db,
    databaseUrl: url,
    job,
    queue,
    partitions,
    businessDate,
    restaurants,
    start: async (environment = {}) =>
      resources.use(
        await spawnApp("apps/scheduler/src/main.ts", {
          DATABASE_URL: url,
          QUEUE_URL: queue.url,
          QUEUE_PREFIX: queue.prefix,
          LOG_FORMAT: "json",
          CATCH_UP_DAYS: "1",
          CATCH_UP_INTERVAL_MS: "500",
          RECONCILE_INTERVAL_MS: "500",
          ...environment,
          NODE_OPTIONS: [sameCron.environment.NODE_OPTIONS, environment["NODE_OPTIONS"] ?? ""].join(" ").trim(),
        }),
      ),
    runs: () => runStatus(database, job, { businessDate }),
    waiting: () => waitingOf(partitions),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function waitingOf(partitions: readonly PartitionQueue[]): Promise<number> {
  const counts = await Promise.all(partitions.map((partition) => partition.counts()));
  return counts.reduce((sum, { waiting }) => sum + waiting, 0);
}

/** Waits until the queue has a job for each restaurant of the night. */
export async function enqueued(night: DueNight, timeoutMs = 60_000): Promise<void> {
  await expect.poll(() => night.waiting(), { timeout: timeoutMs, interval: 100 }).toBe(night.restaurants);
}

/** Asks it to end, and waits until it has, in order. */
export async function endInOrder(app: App): Promise<void> {
  app.signal("SIGTERM");
  expect(await app.exited).toMatchObject({ code: 0 });
}
