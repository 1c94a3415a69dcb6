/** A night of a test's own: restaurants with sales, planned, and workers as real processes to run it. */

import { type Database, openDatabase } from "@nightwriter/database";
import { registerJob } from "@nightwriter/job";
import { connectQueues, type PartitionQueue, type Queues } from "@nightwriter/queue";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { type DueItem, dueItems, ensureNightlyRun } from "@nightwriter/run";
import {
  type App,
  makeRestaurants,
  type OlderBuild,
  type QueueStore,
  recordSales,
  type SaleRow,
  spawnApp,
  testDatabase,
  testQueue,
} from "@nightwriter/testkit";
import { sql } from "kysely";
import { expect, vi } from "vitest";

export const businessDate = "2026-03-14";

/** How long a process may take to start on a machine that is busy with other things. */
const startMs = 50_000;

export interface NightOptions {
  readonly store: QueueStore;
  readonly restaurants: number;
  /** Recorded before the night is planned, besides three sales for each restaurant. */
  readonly sales?: readonly SaleRow[];
  /** Where the facts are kept. Default: a database of the test run's server. */
  readonly databaseUrl?: string;
  /** Where the queue is kept. Default: a prefix or a database of the test run's servers. */
  readonly queueUrl?: string;
}

export interface EnqueueOptions {
  readonly keys?: readonly string[];
  readonly generations?: number;
}

export interface Night extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly database: Database;
  readonly db: Database["db"];
  readonly queues: Queues;
  /** The queues of the 16 partitions that the night was planned with, in their order. */
  readonly partitions: readonly PartitionQueue[];
  readonly runId: bigint;
  /** The restaurants, `r0001`… */
  readonly keys: readonly string[];
  /** Puts these items, by default all that are due, into the queue: `generations` jobs for each. */
  enqueue(options?: EnqueueOptions): Promise<void>;
  /**
   * Starts a worker, without leases unless the environment says where they are, and waits until it is ready. Of the
   * checkout, unless an older build is given.
   */
  startWorker(name: string, environment?: Readonly<Record<string, string>>, build?: OlderBuild): Promise<App>;
  /** How many items have their entry. */
  applied(): Promise<number>;
  /** Waits until so many items have their entry, and nothing is left in the queue to be delivered. */
  finished(items: number, timeoutMs?: number): Promise<void>;
}

/** Plans a night and enqueues nothing yet. Disposal ends the workers, then removes queue and database. */
export async function planNight({
  store,
  restaurants,
  sales = [],
  databaseUrl,
  queueUrl,
}: NightOptions): Promise<Night> {
  await using stack = new AsyncDisposableStack();
  const url = databaseUrl ?? stack.use(await testDatabase()).url;
  const queue = queueUrl === undefined ? stack.use(await testQueue(store)) : { url: queueUrl, prefix: "test" };
  const database = stack.use(openDatabase({ url, applicationName: "test of the worker" }));
  const queues = stack.use(
    await connectQueues({ url: queue.url, prefix: queue.prefix, applicationName: "test-of-the-worker" }),
  );
  const { db } = database;

  const keys = await makeRestaurants(db, restaurants);
  await recordSales(db, [...keys.flatMap(threeSales), ...sales]);
  const job = await registerJob(database, restaurantTotals);
  const { run, planned } = await ensureNightlyRun(database, job, Temporal.PlainDate.from(businessDate));
  expect(planned).toBe(restaurants);
  const items: DueItem[] = [];
  for await (const page of dueItems(database, job)) items.push(...page);

  const partitions = Array.from({ length: job.partitionCount }, (_, partition) =>
    queues.partition(job.definition.name, partition),
  );
  const environment = {
    DATABASE_URL: url,
    QUEUE_URL: queue.url,
    QUEUE_PREFIX: queue.prefix,
    LEASE_URL: "none",
  };
  const resources = stack.move();
  return {
    databaseUrl: url,
    database,
    db,
    queues,
    partitions,
    runId: run.id,
    keys,
    applied: () => countEntries(database),
    enqueue: async ({ keys: chosen = keys, generations = 1 } = {}) => {
      const wanted = new Set(chosen);
      await enqueue(partitions, { items: items.filter(({ key }) => wanted.has(key)), generations });
    },
    startWorker: async (name, more = {}, build) => {
      const named = { WORKER_NAME: name, LOG_LEVEL: "debug", LOG_FORMAT: "json" };
      const app = await spawnApp("apps/worker/src/main.ts", { ...environment, ...named, ...more }, { build });
      resources.use(app);
      await app.waitForLog(({ msg }) => msg === "worker ready", startMs);
      return app;
    },
    finished: (count, timeoutMs) =>
      until(async () => {
        expect(await countEntries(database)).toBe(count);
        const counts = await Promise.all(partitions.map((each) => each.counts()));
        expect(counts.filter(({ waiting, delayed, active }) => waiting + delayed + active > 0)).toEqual([]);
      }, timeoutMs),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function enqueue(
  partitions: readonly PartitionQueue[],
  { items, generations }: { readonly items: readonly DueItem[]; readonly generations: number },
): Promise<void> {
  for (let generation = 0; generation < generations; generation += 1) {
    await Promise.all(
      partitions.map(async (queue) => {
        const own = items.filter(({ partition }) => partition === queue.partition);
        await queue.enqueue(own.map(({ runId, key, businessDate }) => ({ runId, key, businessDate, generation })));
      }),
    );
  }
}

/** Waits until `check` passes: a condition of the servers, asked again and again. */
export async function until(check: () => Promise<void>, timeoutMs = 20_000): Promise<void> {
  await vi.waitFor(check, { timeout: timeoutMs, interval: 50 });
}

/**
 * Proves, in SQL and without a line of the product's, that the keys' totals are the sums of their sales, that each has one
 * entry, and that the entry is what the total says. `except` are keys that have nothing.
 */
export async function expectExact(
  { db, keys }: Pick<Night, "db" | "keys">,
  except: readonly string[] = [],
): Promise<void> {
  const { rows } = await sql<{ key: string }>`
    select r.id as key
    from sales.restaurant r
    left join nightwriter.key_total t on t.key = r.id
    left join (
      select restaurant_id as key, sum(amount_minor) as amount, count(*) as count from sales.sale group by restaurant_id
    ) s on s.key = r.id
    left join (
      select key, count(*) as count, sum(delta_minor) as delta, max(version_after) as version, sum(source_count) as sources
      from nightwriter.ledger_entry group by key
    ) e on e.key = r.id
    where r.id <> all (${[...except]}::text[])
      and (t.total_minor, t.version, e.count, e.delta, e.version, e.sources)
        is distinct from (s.amount::bigint, 1::bigint, 1::bigint, s.amount, 1::bigint, s.count::numeric)`.execute(db);
  expect(rows.map(({ key }) => key)).toEqual([]);
  const entries = await sql<{ count: bigint }>`select count(*) as count from nightwriter.ledger_entry`.execute(db);
  expect(entries.rows).toEqual([{ count: BigInt(keys.length - except.length) }]);
}

/** The names of the workers that have written entries. */
export async function writers({ db }: Pick<Night, "db">): Promise<string[]> {
  const rows = await db.selectFrom("nightwriter.ledger_entry").select("worker").distinct().orderBy("worker").execute();
  return rows.map(({ worker }) => worker);
}

/** How many statements of this application wait for a lock. */
export async function waitingStatements({ db }: Pick<Night, "db">, applicationName: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = ${applicationName} and wait_event_type = 'Lock'`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/**
 * Holds back every write of the run, by a lock on its row, until the returned function is called. Whoever has
 * sent a statement meanwhile waits in the middle of it.
 */
export async function holdWrites(night: Pick<Night, "database" | "runId">): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const held = night.database.session(async (session) => {
    await session.query("begin");
    await session.query("select 1 from nightwriter.run where id = $1 for update", [night.runId]);
    locked.resolve();
    await released.promise;
    await session.query("rollback");
  });
  await Promise.race([locked.promise, held]);
  return async () => {
    released.resolve();
    await held;
  };
}

/**
 * Puts items into the queue while every write is held back, and returns when each of these workers is in the middle of a
 * statement: however fast one of them is, none is left without work. Call what is returned to let them go on.
 */
export async function enqueueHeld(
  night: Night,
  workers: readonly string[],
  options?: EnqueueOptions,
): Promise<() => Promise<void>> {
  const release = await holdWrites(night);
  await night.enqueue(options);
  await until(async () => {
    for (const worker of workers) expect(await waitingStatements(night, worker)).toBeGreaterThan(0);
  });
  return release;
}

function threeSales(restaurant: string, index: number): SaleRow[] {
  return [1_000 + index, 2_500, -50].map((amountMinor) => ({ restaurant, businessDate, amountMinor }));
}

async function countEntries({ db }: Database): Promise<number> {
  const { count } = await db
    .selectFrom("nightwriter.ledger_entry")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}
