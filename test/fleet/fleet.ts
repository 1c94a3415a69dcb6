/**
 * A fleet under trouble: a night that takes a while, workers as real processes that reach their servers by proxies, and what
 * their logs say of who consumed what when.
 *
 * Every process of a machine reads the same monotonic clock (`process.hrtime`), so instants of different processes, and of
 * the test itself, can be compared.
 */

import { systemClock } from "@nightwriter/core";
import { registerJob } from "@nightwriter/job";
import { describeViolation, type RuleName, verify } from "@nightwriter/ledger";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { type RedisService, startRedis, startTcpProxy, type TcpProxy } from "@nightwriter/services";
import type { App, LogLine, MutatedBuild } from "@nightwriter/testkit";
import { sql } from "kysely";
import { expect } from "vitest";
import { expectExact, type Night, planNight, until } from "../worker/night.ts";

export const partitionCount = 16;

/** How long a worker may take for what no number of the design bounds, on a machine that is busy with other things. */
const patienceMs = 60_000;

export interface FleetOptions {
  readonly leaseMs: number;
  readonly restaurants: number;
  /** How long the database takes for each entry: a night that lasts, without a load on the machine. */
  readonly entryMs: number;
}

/** One partition in the hands of one worker. */
export interface Consumption {
  readonly worker: string;
  readonly partition: number;
  readonly fencingToken: number;
  readonly beganNs: bigint;
  /** Undefined: it lasts, or its worker could not say any more. */
  readonly leftNs: bigint | undefined;
  readonly why: string | undefined;
}

/** A worker, as its log shows it. */
export interface Observed {
  readonly name: string;
  readonly app: App;
  /** What it consumed so far, in the order in which it began. */
  consumptions(): Consumption[];
  /** The partitions that it has not left. */
  held(): number[];
  /** Its log lines with this message. */
  said(msg: string): LogLine[];
}

export interface FleetWorker extends Observed {
  /** Its way to Postgres. */
  readonly database: TcpProxy;
  /** Its way to the Redis of the queue. */
  readonly queue: TcpProxy;
}

export interface Fleet extends AsyncDisposable {
  readonly night: Night;
  /** The Redis that leases are in: not the queue's. */
  readonly leaseRedis: RedisService;
  readonly workers: readonly FleetWorker[];
  /** Starts a worker and waits until it is ready. Its leases are in `leaseRedis`, or by way of `leases`. */
  start(name: string, more?: StartOptions): Promise<FleetWorker>;
  /** Waits until these workers hold all partitions, each of them its fair share. */
  shared(workers: readonly FleetWorker[]): Promise<void>;
}

export interface StartOptions {
  readonly build?: MutatedBuild;
  /** Leases in the queue's Redis, reached by the worker's own proxy, instead of in the fleet's lease Redis. */
  readonly leasesInQueue?: boolean;
}

/** Plans a night and enqueues nothing yet. Queue and leases are in Redis servers of its own. */
export async function planFleet({ leaseMs, restaurants, entryMs }: FleetOptions): Promise<Fleet> {
  await using stack = new AsyncDisposableStack();
  const queueRedis = stack.use(await startRedis());
  const leaseRedis = stack.use(await startRedis());
  const night = stack.use(await planNight({ store: "redis", restaurants, queueUrl: queueRedis.url }));
  await slowDown(night, entryMs);
  const workers: FleetWorker[] = [];
  const resources = stack.move();
  return {
    night,
    leaseRedis,
    workers,
    async start(name, { build, leasesInQueue = false } = {}) {
      const database = resources.use(await startTcpProxy({ port: Number(new URL(night.databaseUrl).port) }));
      const queue = resources.use(await startTcpProxy({ port: queueRedis.port }));
      const queueUrl = queue.urlFor(queueRedis.url);
      const app = await night.startWorker(name, {
        DATABASE_URL: database.urlFor(night.databaseUrl),
        QUEUE_URL: queueUrl,
        LEASE_URL: leasesInQueue ? queueUrl : leaseRedis.url,
        LEASE_MS: String(leaseMs),
        LOG_LEVEL: "info",
        // Statements of a few items and a few at a time: what is in flight is settled well within a lease.
        DATABASE_POOL_SIZE: "2",
        BATCH_SIZE: "10",
        WORKER_CONCURRENCY: "20",
        ...build?.environment,
      });
      await build?.loadedBy(app);
      const worker = { ...observe(name, app), database, queue };
      workers.push(worker);
      return worker;
    },
    shared: (sharers) => waitUntil(() => expectShared(sharers)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Makes each entry take so long in the database. */
export async function slowDown({ db }: Pick<Night, "db">, entryMs: number): Promise<void> {
  await sql`create function slow_entry() returns trigger language plpgsql as ${sql.lit(
    `begin perform pg_sleep(${entryMs / 1_000}); return null; end`,
  )}`.execute(db);
  await sql`create trigger slow_entry after insert on nightwriter.ledger_entry
    for each row execute function slow_entry()`.execute(db);
}

export function observe(name: string, app: App): Observed {
  const consumptions = (): Consumption[] => consumptionsOf(name, app.log);
  return {
    name,
    app,
    consumptions,
    held: () =>
      consumptions()
        .filter(({ leftNs }) => leftNs === undefined)
        .map(({ partition }) => partition),
    said: (msg) => app.log.filter((line) => line.msg === msg),
  };
}

function consumptionsOf(worker: string, log: readonly LogLine[]): Consumption[] {
  const left = log.filter(({ msg }) => msg === "partition left");
  return log
    .filter(({ msg }) => msg === "partition consumed")
    .map((began) => {
      const end = left.find(
        (line) => line["partition"] === began["partition"] && line["fencingToken"] === began["fencingToken"],
      );
      return {
        worker,
        partition: Number(began["partition"]),
        fencingToken: Number(began["fencingToken"]),
        beganNs: BigInt(String(began["atNs"])),
        leftNs: end === undefined ? undefined : BigInt(String(end["atNs"])),
        why: end === undefined ? undefined : String(end["why"]),
      };
    });
}

/** These workers hold all partitions, and each its fair share. */
export function expectShared(workers: readonly Observed[]): void {
  const held = workers.flatMap((worker) => worker.held()).toSorted((a, b) => a - b);
  expect(held).toEqual(Array.from({ length: partitionCount }, (_, partition) => partition));
  const fair = Math.floor(partitionCount / workers.length);
  for (const worker of workers) expect(worker.held().length).toBeGreaterThanOrEqual(fair);
}

/** Now, on the clock of all processes. */
export const nowNs = (): bigint => process.hrtime.bigint();

/** Waits until the check passes, asked again and again. */
export async function waitUntil(check: () => void | Promise<void>): Promise<void> {
  await until(async () => check(), patienceMs);
}

/** Waits until each of the partitions was taken by one of the workers after an instant; how long after it, in milliseconds. */
export async function takenOver(
  partitions: readonly number[],
  by: readonly FleetWorker[],
  sinceNs: bigint,
): Promise<number[]> {
  const delays = (): number[] => {
    const begun = by.flatMap((worker) => worker.consumptions()).filter(({ beganNs }) => beganNs > sinceNs);
    return partitions.map((partition) => {
      const own = begun
        .filter((each) => each.partition === partition)
        .map(({ beganNs }) => Number(beganNs - sinceNs) / 1e6);
      return Math.min(...own);
    });
  };
  await waitUntil(() => expect(delays().every(Number.isFinite)).toBe(true));
  return delays();
}

/** That no partition was in two workers' hands at once, by what they logged. `apart` are workers that could not log in time. */
export function expectNoOverlap(workers: readonly Observed[]): void {
  const all = workers.flatMap((worker) => worker.consumptions());
  const overlaps = all.flatMap((one) =>
    all
      .filter((other) => other.partition === one.partition && other.worker !== one.worker)
      .filter((other) => one.beganNs <= other.beganNs && (one.leftNs === undefined || one.leftNs > other.beganNs))
      .map(
        (other) =>
          `partition ${one.partition}: ${one.worker} (${one.fencingToken}), ${other.worker} (${other.fencingToken})`,
      ),
  );
  expect(overlaps).toEqual([]);
}

/**
 * That the night ended as it should: every item applied once, exact totals, no failed queue job, a verify that is clean but for
 * `excused` rules.
 */
export async function expectNightInOrder(
  { night }: Pick<Fleet, "night">,
  excused: readonly RuleName[] = [],
): Promise<void> {
  await night.finished(night.keys.length, 120_000);
  await expectExact(night);
  const found = await violations(night);
  expect(found.filter((line) => !excused.some((rule) => line.startsWith(`${rule}: `)))).toEqual([]);
  const counts = await Promise.all(night.partitions.map((partition) => partition.counts()));
  expect(counts.filter(({ failed }) => failed > 0)).toEqual([]);
  const withdrawn = await night.db
    .selectFrom("nightwriter.run_item")
    .select("key")
    .where("status", "<>", "due")
    .execute();
  expect(withdrawn).toEqual([]);
}

/** What verify finds, in words. */
export async function violations({ database }: Pick<Night, "database">): Promise<string[]> {
  const job = await registerJob(database, restaurantTotals);
  const report = await verify(database, job, { now: systemClock.now() });
  return report.rules.flatMap((rule) => rule.violations.map(describeViolation));
}

/** The keys whose queue jobs are in hand in these partitions. */
export async function inHand({ night }: Pick<Fleet, "night">, partitions: readonly number[]): Promise<string[]> {
  const jobs = await Promise.all(
    night.partitions
      .filter(({ partition }) => partitions.includes(partition))
      .map(({ bullQueue }) => bullQueue.getActive()),
  );
  return jobs.flat().map(({ data }: { data: { key: string } }) => data.key);
}

/** The database's clock. */
export async function databaseNow({ db }: Pick<Night, "db">): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the database has no time");
  return row.now;
}

/** Waits until all of the keys have their entry; when the last of them was written, in milliseconds after an instant. */
export async function appliedAfterMs({ db }: Night, keys: readonly string[], since: Date): Promise<number> {
  let lastMs = Number.NaN;
  await waitUntil(async () => {
    const entries = await db
      .selectFrom("nightwriter.ledger_entry")
      .select("applied_at")
      .where("key", "in", keys)
      .execute();
    expect(entries).toHaveLength(keys.length);
    lastMs = Math.max(...entries.map(({ applied_at }) => applied_at.getTime() - since.getTime()));
  });
  return lastMs;
}
