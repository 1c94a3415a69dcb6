/** A database with the shipped job in it, and nights to be applied, each on a date of its own. */
import { createHash } from "node:crypto";
import { invariant } from "@nightwriter/core";
import { type Database, type DatabaseOptions, migrateToLatest, openDatabase } from "@nightwriter/database";
import { type Job, registerJob } from "@nightwriter/job";
import type { Item } from "@nightwriter/ledger";
import { restaurantTotals, schemaLists } from "@nightwriter/restaurant-totals";
import { dueItems, ensureNightlyRun, finishRuns } from "@nightwriter/run";
import { withSetting } from "./setting.ts";

/** Connections that the guarded statement is measured with. */
export const connections = 4;

export interface Ledger extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  /** As a worker opens it for its statements. */
  readonly writing: Database;
  readonly job: Job;
  /** A business date that this ledger has had nothing of, later than all before. */
  nextDate(): string;
}

/** A planned night that nothing of is applied. */
export interface Night {
  readonly runId: bigint;
  /** YYYY-MM-DD */
  readonly businessDate: string;
  readonly itemCount: number;
}

/** Opens the database at its tip: migrated, the job registered. `daysUsed`: dates that it has had already. */
export async function openLedger(url: string, daysUsed = 0): Promise<Ledger> {
  await using opened = new AsyncDisposableStack();
  const options: DatabaseOptions = { url, applicationName: "bench", max: connections, statementTimeoutMs: 0 };
  const database = opened.use(openDatabase(options));
  const writing = opened.use(openDatabase({ ...options, indexLookups: true }));
  await migrateToLatest(database, { lists: schemaLists });
  const job = await registerJob(database, restaurantTotals);
  let day = daysUsed;
  const kept = opened.move();
  return {
    url,
    database,
    writing,
    job,
    nextDate: () => Temporal.PlainDate.from("2026-01-01").add({ days: day++ }).toString(),
    [Symbol.asyncDispose]: async () => kept.disposeAsync(),
  };
}

/**
 * Makes restaurants `r0000000`… and their totals in an order that has nothing to do with their ids, as if each had joined on a day of
 * its own: neighbours in an index are not neighbours in a table. A plan alone would make all totals at once, in the order of keys.
 */
export async function addRestaurants({ database, job }: Ledger, count: number): Promise<void> {
  await database.session(async (session) => {
    await session.query(
      `insert into sales.restaurant (id, name, time_zone, currency)
      select id, 'Restaurant', 'UTC', 'INR'
      from (select 'r' || to_char(number, 'fm0000000') as id from generate_series(0, $1::integer - 1) as number) as made
      order by md5(id)`,
      [count],
    );
    await session.query(
      "insert into nightwriter.key_total (job_id, key) select $1::integer, id from sales.restaurant order by md5(id)",
      [job.id],
    );
  });
}

export interface SalesOptions {
  readonly salesPerKey: number;
  /** Only of restaurants whose {@link placeOf} is from `from` to below `to`. Default: of all. */
  readonly slice?: { readonly from: number; readonly to: number };
}

/**
 * Records sales of the date for the restaurants, in the order in which tills would bring them: mixed, so that the sales of one
 * restaurant lie scattered over the pages of the night. Foreign keys are not checked, which takes most of the time.
 */
export async function addSales({ database }: Ledger, businessDate: string, options: SalesOptions): Promise<void> {
  const { salesPerKey, slice } = options;
  // The same number as placeOf has.
  const place = "('x' || substr(md5('slice' || id), 1, 8))::bit(32)::bigint / 4294967296.0";
  const wanted = slice === undefined ? "true" : `${place} >= ${slice.from} and ${place} < ${slice.to}`;
  await withSetting(database, "session_replication_role = replica", async (session) => {
    await session.query(
      `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch)
        select id, $1::date, 'till', line, 100 + (hash & 4095), (select nightwriter.current_epoch())
        from (
          select wanted.id, line, hashtext(wanted.id || line) as hash
          from (select id from sales.restaurant where ${wanted} offset 0) as wanted,
            generate_series(1, $2::integer) as line
        ) as sold
        order by hash`,
      [businessDate, salesPerKey],
    );
  });
}

/** Where the key stands among all keys, from 0 to 1, by a hash that is neither the partitions' nor the one that tables are filled by. */
export function placeOf(key: string): number {
  return createHash("md5").update(`slice${key}`).digest().readUInt32BE(0) / 2 ** 32;
}

/** Records a night's sales and plans it, as the scheduler would. */
export async function planNight(ledger: Ledger, options: SalesOptions): Promise<Night> {
  const businessDate = ledger.nextDate();
  await addSales(ledger, businessDate, options);
  // The day's sales were recorded hours ago in a real night, and autovacuum has been there within a minute (migration 0004).
  await ledger.database.session((session) => session.query("vacuum sales.sale"));
  const { run, planned } = await ensureNightlyRun(ledger.database, ledger.job, Temporal.PlainDate.from(businessDate));
  return { runId: run.id, businessDate, itemCount: planned };
}

/** Proves that the night is applied, whole: a fast write that left something out is not fast. */
export async function finishNight({ database, job }: Ledger, { runId }: Night): Promise<void> {
  const finished = await finishRuns(database, job);
  invariant(
    finished.some((run) => run.id === runId),
    `run ${runId}: was measured and is not finished`,
  );
}

/** All items of a night that are due, by partition, in the order of the partition's keys. */
export async function itemsByPartition({ database, job }: Ledger, { runId }: Night): Promise<Map<number, Item[]>> {
  const items = new Map<number, Item[]>();
  for await (const page of dueItems(database, job, { runId })) {
    for (const { partition, key, businessDate } of page) {
      const own = items.get(partition) ?? [];
      own.push({ runId, key, businessDate });
      items.set(partition, own);
    }
  }
  return items;
}
