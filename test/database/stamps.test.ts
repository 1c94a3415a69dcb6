/** No row enters with the stamp of a transaction that did not write it. */

import { once } from "node:events";
import type { Session } from "@nightwriter/database";
import { bothPostgres, makeRestaurants, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

const foreign = {
  code: "data",
  sqlstate: "23514",
  details: expect.objectContaining({ constraint: "sale_own_stamp" }),
  message: expect.stringMatching(
    /^database: sales\.sale: a row that carries the stamp of another transaction \(xid \d+, epoch \d+\) is refused; leave its columns xid and epoch out/,
  ),
};

const stampedTables = sql<{ name: string; checked: boolean }>`
  select c.oid::regclass::text as name, exists (select from pg_constraint k
    where k.conrelid = c.oid and k.conname = c.relname || '_own_stamp' and not k.convalidated) as checked
  from pg_class c
    join pg_attribute x on x.attrelid = c.oid and x.attname = 'xid' and x.atttypid = 'xid8'::regtype
    join pg_attribute e on e.attrelid = c.oid and e.attname = 'epoch'
  where c.relkind = 'r' order by name`;

/** A sale of its own line, with more columns if need be. */
function sale(line: number, more: Readonly<Record<string, string>> = {}): string {
  const columns = Object.keys(more).map((name) => `, ${name}`);
  const values = Object.values(more).map((value) => `, ${value}`);
  return `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor${columns.join("")})
    values ('r0001', '2026-03-01', 'till', ${line}, 120${values.join("")})`;
}

async function linesOf(session: Session): Promise<number[]> {
  const rows = await session.query<{ line: bigint }>("select source_line as line from sales.sale order by 1");
  return rows.map(({ line }) => Number(line));
}

describe.each(bothPostgres)("a stamped table on PostgreSQL %s", (server) => {
  test("takes what is stamped by its defaults, or by hand with what they say", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    await test.database.session(async (session) => {
      const own = { xid: "pg_current_xact_id()", epoch: "nightwriter.current_epoch()" };
      await session.query(sale(1));
      await session.query(sale(2, own));
      await session.query("begin");
      await session.query(sale(3));
      await session.query("savepoint one");
      await session.query(sale(4, own));
      await session.query("rollback to savepoint one");
      await session.query(sale(5));
      await session.query("commit");
      expect(await linesOf(session)).toEqual([1, 2, 3, 5]);
    });
  });

  test("refuses the stamp of another transaction or epoch, whoever brings it and however", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    await test.database.session(async (session) => {
      await session.query("create table staging (like sales.sale including defaults)");
      await session.query(sale(1).replace("sales.sale", "staging"));
      const ways = [
        sale(2, { xid: "'3'" }),
        sale(2, { xid: "'999999999'" }),
        sale(2, { epoch: "0" }),
        sale(2, { epoch: "2" }),
        "insert into sales.sale select * from staging",
        "with moved as (delete from staging returning *) insert into sales.sale select * from moved",
        "merge into sales.sale using staging on false when not matched then insert values (staging.restaurant_id, staging.business_date, staging.source, staging.source_line, staging.amount_minor, staging.recorded_at, staging.xid, staging.epoch)",
      ];
      for (const role of ["origin", "replica"]) {
        await session.query(`set session_replication_role = ${role}`);
        for (const way of ways) await expect(session.query(way), way).rejects.toMatchObject(foreign);
      }
      await session.query("reset session_replication_role");
      // One row's epoch is remembered for the transaction: it is no leave for the next.
      await session.query("begin");
      await session.query(sale(3));
      await expect(session.query(sale(4, { epoch: "0" }))).rejects.toMatchObject(foreign);
      await session.query("rollback");
      expect(await linesOf(session)).toEqual([]);
    });
  });

  test("refuses them by COPY too, where it takes rows without them", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    const copy = async (columns: string, row: string): Promise<void> =>
      test.database.session(async (session) => {
        const stream = session.copyFrom(
          `copy sales.sale (restaurant_id, business_date, source, source_line, amount_minor${columns}) from stdin`,
        );
        stream.end(`r0001\t2026-03-01\ttill\t${row}\n`);
        await once(stream, "finish");
      });
    await copy("", "1\t120");
    await copy(", epoch", "2\t120\t1");
    await expect(copy(", xid", "3\t120\t3")).rejects.toMatchObject({ code: "23514", constraint: "sale_own_stamp" });
    await expect(copy(", epoch", "3\t120\t7")).rejects.toMatchObject({ code: "23514", constraint: "sale_own_stamp" });
    await test.database.session(async (session) => expect(await linesOf(session)).toEqual([1, 2]));
  });

  test("is every table of ours that has the columns, by a check that is never validated", async () => {
    await using test = await testDatabase({ server });
    const { rows } = await stampedTables.execute(test.db);
    expect(rows.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "nightwriter.acknowledgement",
        "nightwriter.audit_log",
        "nightwriter.ledger_entry",
        "sales.opening_total",
        "sales.sale",
      ]),
    );
    expect(rows.filter(({ checked }) => !checked)).toEqual([]);
  });

  test("can be any job's own, also one with rows, and asking twice changes nothing", async () => {
    await using test = await testDatabase({ server });
    await test.database.session(async (session) => {
      await session.query(`create schema "Tips"; create table "Tips"."Tip" (amount bigint,
        xid xid8 not null default pg_current_xact_id(), epoch integer not null default nightwriter.current_epoch())`);
      const bring = `insert into "Tips"."Tip" values (1, '3', 1)`;
      await session.query(bring);
      for (const _ of [1, 2]) await session.query(`select nightwriter.require_stamps('"Tips"."Tip"')`);
      await expect(session.query(bring)).rejects.toMatchObject({
        details: expect.objectContaining({ constraint: "Tip_own_stamp" }),
        message: expect.stringContaining(`"Tips"."Tip": a row that carries the stamp`),
      });
      await session.query(`insert into "Tips"."Tip" values (2)`);
      expect(await session.query(`select amount from "Tips"."Tip" order by 1`)).toEqual([
        { amount: 1n },
        { amount: 2n },
      ]);
    });
    const { rows } = await stampedTables.execute(test.db);
    expect(rows).toContainEqual({ name: '"Tips"."Tip"', checked: true });
  });
});
