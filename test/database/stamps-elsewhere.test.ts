/** Rows that come from another database: with a dump, or by logical replication. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateToLatest, openDatabase, type Session } from "@nightwriter/database";
import { ensureServer, startPostgres } from "@nightwriter/services";
import { makeRestaurants, recordSales, testDatabase } from "@nightwriter/testkit";
import { execa } from "execa";
import { expect, test } from "vitest";
import { emptiedDatabase } from "./emptied.ts";

const sale = { restaurant: "r0001", businessDate: "2026-03-01", amountMinor: 120 };
const stamps = "select xid::text, epoch from sales.sale order by xid, epoch";
const staged = `create temporary table brought as select * from sales.sale limit 1;
  insert into sales.sale select restaurant_id, business_date, source, 99, amount_minor, recorded_at, xid, epoch from brought`;

/** Dumps with the programs of 15, which both servers understand. */
async function programs(): Promise<{ dump: string; restore: string; psql: string }> {
  const folder = await ensureServer("postgres-15");
  return { dump: join(folder, "pg_dump"), restore: join(folder, "pg_restore"), psql: join(folder, "psql") };
}

test.each(["plain", "custom"] as const)(
  "a whole dump of PostgreSQL 15, %s, keeps its stamps in 18, where the check goes on",
  async (format) => {
    const folder = await mkdtemp(join(tmpdir(), "nightwriter-stamps-"));
    try {
      const { dump, restore, psql } = await programs();
      await using old = await testDatabase({ server: "15" });
      await using fresh = await emptiedDatabase("18");
      await makeRestaurants(old.db, 1);
      for (const _ of [1, 2, 3]) await recordSales(old.db, [sale]);
      const file = join(folder, "dump");
      await execa(dump, [`--format=${format}`, `--file=${file}`, `--dbname=${old.url}`]);
      if (format === "plain")
        await execa(psql, ["-qX", "-vON_ERROR_STOP=1", `--dbname=${fresh.url}`, `--file=${file}`]);
      else await execa(restore, ["--exit-on-error", `--dbname=${fresh.url}`, file]);
      const before = await old.database.session(async (session) => session.query(stamps));
      await fresh.database.session(async (session) => {
        expect(await session.query(stamps)).toEqual(before);
        await expect(session.query(staged)).rejects.toMatchObject({ sqlstate: "23514" });
      });
      await expect(recordSales(fresh.db, [sale])).rejects.toMatchObject({ code: "55000" });
      await migrateToLatest(fresh.database);
      await recordSales(fresh.db, [sale]);
      await fresh.database.session(async (session) => {
        await expect(session.query(staged)).rejects.toMatchObject({ sqlstate: "23514" });
        expect(await session.query(stamps)).toHaveLength(before.length + 1);
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test("a dump of the data alone is refused with what to do, and goes in when that is done", async () => {
  const { dump, psql } = await programs();
  await using old = await testDatabase({ server: "15" });
  await using fresh = await testDatabase({ server: "18" });
  for (const { db } of [old, fresh]) await makeRestaurants(db, 1);
  await recordSales(old.db, [sale]);
  const load = async () => {
    const data = execa(dump, ["--data-only", "--table=sales.sale", `--dbname=${old.url}`]);
    await data.pipe(psql, ["-qX", "-vON_ERROR_STOP=1", `--dbname=${fresh.url}`]);
  };
  const remedy =
    "alter table sales.sale drop constraint sale_own_stamp; restore; select nightwriter.require_stamps('sales.sale').";
  await expect(load()).rejects.toMatchObject({ stderr: expect.stringContaining(remedy) });
  const [drop = "", , again = ""] = remedy.replace(/\.$/, "").split("; ");
  await fresh.database.session(async (session) => session.query(drop));
  await load();
  await fresh.database.session(async (session) => {
    await session.query(again);
    expect(await session.query(stamps)).toHaveLength(1);
    await expect(session.query(staged)).rejects.toMatchObject({ sqlstate: "23514" });
  });
});

test("replication's apply brings rows in without their stamps, and none with them", async () => {
  await using server = await startPostgres({ settings: { fsync: "off", wal_level: "logical" } });
  await using cluster = openDatabase({ url: server.url, applicationName: "test", max: 1 });
  const open = async (name: string) => {
    await cluster.session(async (session) => session.query(`create database ${name}`));
    const database = openDatabase({ url: server.url.replace(/postgres$/, name), applicationName: "test", max: 2 });
    await migrateToLatest(database);
    await makeRestaurants(database.db, 1);
    return database;
  };
  await using from = await open("tills");
  await using to = await open("books");
  const ask = async <Row extends object>(database: typeof to, text: string): Promise<Row[]> =>
    database.session(async (session: Session) => session.query<Row>(text));
  const { hostname, port, username, password } = new URL(server.url);
  const columns = "restaurant_id, business_date, source, source_line, amount_minor";
  await ask(from, `create publication tills for table sales.sale (${columns}) with (publish = 'insert')`);
  await ask(from, "select pg_create_logical_replication_slot('tills', 'pgoutput')");
  await ask(
    to,
    `create subscription tills connection 'host=${hostname} port=${port} user=${username} password=${password} dbname=tills'
      publication tills with (create_slot = false, copy_data = false)`,
  );
  await recordSales(from.db, [sale]);
  const arrived = async () => ask(to, stamps);
  await expect.poll(arrived).toHaveLength(1);
  expect(await arrived()).not.toEqual(await ask(from, stamps));

  await ask(from, "alter publication tills set table sales.sale");
  await recordSales(from.db, [sale]);
  const refused = async () => ask(to, "select apply_error_count > 0 as so from pg_stat_subscription_stats");
  await expect.poll(refused).toEqual([{ so: true }]);
  expect(await arrived()).toHaveLength(1);
  await ask(to, "alter subscription tills disable");
  await ask(to, "alter subscription tills set (slot_name = none)");
  await ask(to, "drop subscription tills");
});
