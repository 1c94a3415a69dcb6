/** What a crash of the database takes away, on servers of the test's own that really crash. */

import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { invariant, silentLogger } from "@nightwriter/core";
import { assertServerSupported, type Database, migrateToLatest, openDatabase } from "@nightwriter/database";
import { type Job, registerJob } from "@nightwriter/job";
import { applyItems, guardedWrite, type Item, type ItemOutcome } from "@nightwriter/ledger";
import { readTerms } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { type PostgresService, startPostgres } from "@nightwriter/services";
import { makeRestaurants, recordSales } from "@nightwriter/testkit";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const date = "2026-03-01";
/** Nothing reaches the disk by itself: only a commit that waits for it. */
const settings = { wal_writer_delay: "10s", checkpoint_timeout: "1h", autovacuum: "off" };

let folder: string;
let server: PostgresService;

beforeEach(async () => {
  folder = join(tmpdir(), `nightwriter-crash-${randomUUID()}`);
  server = await startPostgres({ dataDir: folder, settings });
});

afterEach(async () => {
  await server.stop({ mode: "immediate" });
  await rm(folder, { recursive: true });
});

async function crash(): Promise<void> {
  await server.stop({ mode: "immediate" });
  server = await startPostgres({ dataDir: folder, settings });
}

async function opened<Result>(work: (database: Database, job: Job) => Promise<Result>): Promise<Result> {
  await using database = openDatabase({ url: server.url, applicationName: "test" });
  await migrateToLatest(database);
  return await work(database, await registerJob(database, { ...restaurantTotals, partitionCount: 1 }));
}

/** Without the preparations of {@link opened}, which use up transaction ids and commit. */
async function withoutPreparations<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
  await using database = openDatabase({ url: server.url, applicationName: "test" });
  return await work(database);
}

async function planned(database: Database, job: Job): Promise<Item> {
  const [key] = await makeRestaurants(database.db, 1);
  invariant(key !== undefined, "one restaurant was made");
  await database.db.insertInto("nightwriter.key_total").values({ job_id: job.id, key }).execute();
  await recordSales(database.db, [{ restaurant: key, businessDate: date, amountMinor: 120 }]);
  const run = await database.db
    .insertInto("nightwriter.run")
    .values({ job_id: job.id, business_date: date, kind: "manual", request_id: "crash" })
    .returning("id")
    .executeTakeFirstOrThrow();
  await database.db
    .insertInto("nightwriter.run_item")
    .values({ run_id: run.id, business_date: date, key, partition: 0 })
    .execute();
  return { runId: run.id, key, businessDate: date };
}

async function apply(database: Database, job: Job, item: Item): Promise<ItemOutcome | undefined> {
  const [term] = await readTerms(database, job);
  invariant(term !== undefined, "the job has one partition");
  const [outcome] = await applyItems({ database, job, term, worker: "test", logger: silentLogger }, [item]);
  return outcome;
}

/** It writes out what was not waited for, every now and then: perhaps just before the crash. */
async function freezeWalWriter({ db }: Database): Promise<void> {
  const { rows } = await sql<{
    pid: number;
  }>`select pid from pg_stat_activity where backend_type = 'walwriter'`.execute(db);
  invariant(rows[0] !== undefined, "the server has a WAL writer");
  process.kill(rows[0].pid, "SIGSTOP");
}

async function total({ db }: Database): Promise<bigint | undefined> {
  return (await db.selectFrom("nightwriter.key_total").select("total_minor").executeTakeFirst())?.total_minor;
}

describe("a crash of the database", () => {
  test("takes nothing away that was answered as applied", async () => {
    const item = await opened(planned);
    expect(await opened(async (database, job) => apply(database, job, item))).toMatchObject({ outcome: "applied" });
    await crash();
    expect(await opened(total)).toBe(120n);
    expect(await opened(async (database, job) => apply(database, job, item))).toEqual({ outcome: "duplicate" });
  });

  test("trap: takes acknowledged work away when synchronous_commit is off, which is why start-up refuses that", async () => {
    const item = await opened(planned);
    await opened(async ({ db }) => sql`alter role current_user set synchronous_commit = off`.execute(db));
    await opened(async (database, job) => {
      await expect(assertServerSupported(database)).rejects.toMatchObject({ code: "commit_not_durable" });
      await freezeWalWriter(database);
      expect(await apply(database, job, item)).toMatchObject({ outcome: "applied" });
    });
    await crash();
    expect(await opened(total)).toBe(0n);
    await opened(async ({ db }) => sql`alter role current_user set synchronous_commit = on`.execute(db));
    expect(await opened(async (database, job) => apply(database, job, item))).toMatchObject({ outcome: "applied" });
  });

  test("trap: hands a transaction id out again, so a snapshot kept in the client lies about what it has seen", async () => {
    const item = await opened(planned);
    const kept = await opened(async (database) =>
      database.session(async (session) => {
        await session.query("begin");
        const [lost] = await session.query<{ xid: string; snapshot: string }>(
          "select pg_current_xact_id()::text as xid, pg_current_snapshot()::text as snapshot",
        );
        await crash();
        return lost;
      }),
    );
    const late = await withoutPreparations(async (database) =>
      database.session(async (session) =>
        session.query<{ xid: string }>(
          `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor)
           values ($1, $2, 'late', 1, 5) returning xid::text`,
          [item.key, date],
        ),
      ),
    );
    expect(late).toEqual([{ xid: kept?.xid }]);
    await opened(async (database, job) => {
      const [term] = await readTerms(database, job);
      invariant(term !== undefined && kept !== undefined, "the job has one partition");
      const shipped = guardedWrite(database.db, job);
      const text = shipped.sql;
      expect(text.match(/pg_current_snapshot\(\)/g)).toHaveLength(1);
      const wrong = text.replace("pg_current_snapshot()", `'${kept.snapshot}'::pg_snapshot`);
      const { parameters } = shipped.bind({
        runIds: [item.runId],
        keys: [item.key],
        businessDates: [date],
        runs: [item.runId],
        partition: 0,
        fencingToken: term.fencingToken,
        nonce: term.nonce,
        worker: "test",
      });
      // Both entries have summed the late sale; only the shipped one's stored snapshot has seen it.
      expect(await sees(database, wrong, parameters)).toEqual({ delta_minor: 125n, late_is_visible: false });
      expect(await sees(database, text, parameters)).toEqual({ delta_minor: 125n, late_is_visible: true });
    });
  });

  test("leaves a write whose standby was not waited for to a look-up", async () => {
    const { item, job } = await opened(async (database, registered) => ({
      item: await planned(database, registered),
      job: registered,
    }));
    await server.stop();
    // From the start on: a setting that is loaded again is in force only when the checkpointer has come round to it.
    server = await startPostgres({ dataDir: folder, settings: { ...settings, synchronous_standby_names: "nobody" } });
    await withoutPreparations(async (database) => {
      await using writer = openDatabase({ url: server.url, applicationName: "writer" });
      const done = new AbortController();
      const writing = apply(writer, job, item).finally(() => done.abort());
      while (!done.signal.aborted) {
        await sql`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`.execute(
          database.db,
        );
      }
      // Were the answer believed, it would be "applied".
      expect(await writing).toEqual({ outcome: "duplicate" });
      expect(await total(database)).toBe(120n);
    });
  });
});

/** Runs a write and takes it back; says what the entry added, and whether its stored snapshot has seen the late sale. */
async function sees(database: Database, text: string, parameters: readonly unknown[]): Promise<object | undefined> {
  return database.session(async (session) => {
    await session.query("begin");
    await session.query(text, parameters);
    const [row] = await session.query<object>(
      `select e.delta_minor, pg_visible_in_snapshot(s.xid, e.source_snapshot) as late_is_visible
       from nightwriter.ledger_entry e, sales.sale s where s.source = 'late'`,
    );
    await session.query("rollback");
    return row;
  });
}
