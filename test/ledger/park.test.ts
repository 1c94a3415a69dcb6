/** What a park leaves alone, what it holds while it waits, and what becomes of it when its process freezes. */
import { invariant } from "@nightwriter/core";
import { openDatabase } from "@nightwriter/database";
import { registerJob } from "@nightwriter/job";
import { type Item, parkItems } from "@nightwriter/ledger";
import { bothPostgres, recordSales, spawnApp } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { freeze } from "../lease/freeze.ts";
import { apply, date, lockWaiters, type Night, openNight, park, plan, write } from "./night.ts";

async function statuses({ test: { db } }: Night): Promise<string[]> {
  const rows = await db
    .selectFrom("nightwriter.run_item")
    .select(["key", "status"])
    .where("business_date", "=", date)
    .orderBy("key")
    .execute();
  return rows.map(({ key, status }) => `${key} ${status}`);
}

async function raiseTerm({ test: { db } }: Night): Promise<void> {
  const nonce = sql<string>`gen_random_uuid()`;
  await db.updateTable("nightwriter.partition_term").set({ fencing_token: 34n, nonce }).execute();
}

/** Makes the key's day one that no bigint holds. */
async function overflow({ test: { db } }: Night, restaurant: string): Promise<void> {
  const largest = { restaurant, businessDate: date, amountMinor: 9_223_372_036_854_775_807n };
  await recordSales(db, [largest, largest]);
}

describe.each(bothPostgres)("parkItems on PostgreSQL %s", (server) => {
  test("parks under the current term only: under another nothing is changed, and the token in the way is told", async () => {
    await using night = await openNight(server, 2);
    const items = await plan(night, { request: "mine" });
    const attempts = () => night.test.db.selectFrom("nightwriter.attempt").select("outcome").execute();
    await raiseTerm(night);
    expect(await park(night, items)).toEqual(items.map(() => ({ outcome: "fenced", storedToken: 34n })));
    expect(await park(night, items, { ...night.term, fencingToken: 34n })).toMatchObject([
      { outcome: "fenced" },
      { outcome: "fenced" },
    ]);
    expect(await attempts()).toEqual([]);
    expect(await statuses(night)).toEqual(["r0001 due", "r0002 due"]);
  });

  test("leaves to the next holder what failed by its own data under a term that is over", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "mine" });
    await overflow(night, "r0001");
    await raiseTerm(night);
    expect(await apply(night, items)).toEqual([{ outcome: "fenced", storedToken: 34n }]);
    expect(await statuses(night)).toEqual(["r0001 due"]);
  });

  test("leaves alone what is applied, cancelled, or no item of this job and partition", async () => {
    await using night = await openNight(server, 5);
    const items = await plan(night, { request: "mine" });
    const { db } = night.test;
    await apply(night, items.slice(0, 1));
    const set = (key: string, changes: { status?: "cancelled"; partition?: number }) =>
      db.updateTable("nightwriter.run_item").set(changes).where("key", "=", key).execute();
    await set("r0002", { status: "cancelled" });
    await set("r0003", { partition: 1 });
    const stranger: Item = { runId: 4_711n, key: "r0004", businessDate: date };
    expect(await park(night, [...items.slice(0, 3), stranger, ...items.slice(4)])).toEqual([
      { outcome: "applied" },
      { outcome: "withdrawn", reason: "cancelled" },
      { outcome: "withdrawn", reason: "unplanned" },
      { outcome: "withdrawn", reason: "unplanned" },
      { outcome: "parked" },
    ]);
    expect(await statuses(night)).toEqual(["r0001 due", "r0002 cancelled", "r0003 due", "r0004 due", "r0005 parked"]);

    const other = await registerJob(night.test.database, { ...night.job.definition, name: "other" });
    await db.updateTable("nightwriter.run").set({ job_id: other.id }).execute();
    expect(await park(night, items.slice(3, 4))).toEqual([{ outcome: "withdrawn", reason: "unplanned" }]);
    await db.updateTable("nightwriter.run").set({ job_id: night.job.id, cancelled_at: new Date() }).execute();
    expect(await park(night, items.slice(3, 4))).toEqual([{ outcome: "withdrawn", reason: "cancelled" }]);
  });

  test("sees what was written while it waited: a write in flight stays applied", async () => {
    await using night = await openNight(server, 2);
    const [mine, other] = await plan(night, { request: "mine" });
    invariant(mine !== undefined && other !== undefined, "two items were planned");
    const answers = await night.test.database.session(async (writer) => {
      await writer.query("begin");
      await write(night, { session: writer, items: [mine] });
      const parking = park(night, [mine, other]);
      await lockWaiters(night);
      await writer.query("commit");
      return parking;
    });
    expect(answers).toEqual([{ outcome: "applied" }, { outcome: "parked" }]);
    expect(await statuses(night)).toEqual(["r0001 due", "r0002 parked"]);
  });

  test("trap: one statement that waits at the gate and marks parks what was applied meanwhile", async () => {
    await using night = await openNight(server);
    const [item] = await plan(night, { request: "mine" });
    await night.test.database.session(async (writer) => {
      await writer.query("begin");
      await write(night, { session: writer, items: item === undefined ? [] : [item] });
      const parking = sql`with gate as materialized (select pg_advisory_xact_lock(1853321831, ${item?.runId}::integer))
        update nightwriter.run_item as it set status = 'parked' where run_id = ${item?.runId}
          and (select count(*) from gate) > 0
          and not exists (select from nightwriter.ledger_entry as e where e.run_id = it.run_id and e.key = it.key)`;
      const parked = parking.execute(night.test.db);
      await lockWaiters(night);
      await writer.query("commit");
      await parked;
    });
    expect(await statuses(night)).toEqual(["r0001 parked"]);
  });

  test("is refused where one snapshot serves a whole transaction, and then nothing is parked", async () => {
    await using night = await openNight(server);
    const [item] = await plan(night, { request: "mine" });
    invariant(item !== undefined, "one item was planned");
    await using strict = openDatabase({ url: night.test.url, applicationName: "strict", max: 1 });
    await strict.session(async (session) => session.query("set default_transaction_isolation = 'repeatable read'"));
    const outcome = { outcome: "parked", sqlstate: undefined, reason: "planted" } as const;
    const { job, term } = night;
    await expect(parkItems(strict, { job, term, parked: [{ item, outcome }], worker: "test" })).rejects.toMatchObject({
      code: "bug",
      sqlstate: "25000",
    });
    expect(await statuses(night)).toEqual(["r0001 due"]);
  });
});

/** Starts a park that has to wait for a write in flight, freezes its process, and lets the write end. */
async function freezeParker(
  night: Night,
  manner: "shipped" | "round-trips",
  work: (other: Item, parker: { readonly pid: number }) => Promise<void>,
): Promise<void> {
  const [mine, parked, other] = await plan(night, { request: "mine" });
  invariant(mine !== undefined && parked !== undefined && other !== undefined, "three items were planned");
  await night.test.database.session(async (writer) => {
    await writer.query("begin");
    await write(night, { session: writer, items: [mine] });
    const args = [manner, String(parked.runId), parked.key, parked.businessDate];
    await using parker = await spawnApp("test/ledger/programs/parker.ts", { DATABASE_URL: night.test.url }, { args });
    await lockWaiters(night);
    await freeze(parker.pid);
    await writer.query("commit");
    await work(other, parker);
    parker.signal("SIGCONT");
    if (manner === "shipped") await parker.waitForLog(({ msg }) => msg === "parked");
    await parker.exited;
  });
}

describe("a process that freezes while it parks", { timeout: 60_000 }, () => {
  test("keeps no gate closed: its item is parked, and the run goes on", async () => {
    await using night = await openNight("18", 3);
    await freezeParker(night, "shipped", async (other) => {
      expect(await apply(night, [other])).toMatchObject([{ outcome: "applied" }]);
      expect(await statuses(night)).toEqual(["r0001 due", "r0002 parked", "r0003 due"]);
    });
  });

  test("trap: one that comes back for its next statement keeps the run closed for as long as it is frozen", async () => {
    await using night = await openNight("18", 3);
    await freezeParker(night, "round-trips", async (other, parker) => {
      const applying = apply(night, [other]);
      await lockWaiters(night);
      const { rows } = await sql<{ state: string }>`
        select state from pg_stat_activity where application_name = 'parker' and datname = current_database()`.execute(
        night.test.db,
      );
      expect(rows).toEqual([{ state: "idle in transaction" }]);
      process.kill(parker.pid, "SIGCONT");
      expect(await applying).toMatchObject([{ outcome: "applied" }]);
    });
  });
});
