/** What was recorded stays as it was recorded. */

import { bothPostgres, makeRestaurants, recordSales, testDatabase } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";

/** Each append-only table with a statement that puts a row into it. */
const tables = {
  "sales.sale": `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor)
    values ('r0001', '2026-03-01', 'test', 1, 120)`,
  "sales.opening_total": `insert into sales.opening_total (restaurant_id, business_date, amount_minor, source)
    values ('r0001', '2026-03-01', 120, 'test')`,
  "nightwriter.ledger_entry": `insert into nightwriter.ledger_entry (job_id, run_id, key, business_date, delta_minor,
      source_count, fencing_token, version_after, total_after, source_snapshot, worker)
    values (1, 1, 'r0001', '2026-03-01', 120, 1, 1, 1, 120, pg_current_snapshot(), 'test')`,
  "nightwriter.audit_log": `insert into nightwriter.audit_log (verb, actor, host) values ('test', 'test', 'test')`,
  "nightwriter.acknowledgement": `insert into nightwriter.acknowledgement (job_id, finding, rule, measure, reason, actor)
    values (1, 'f', 'r', 'm', 'test', 'test')`,
};

function changesOf(table: string): string[] {
  return [`update ${table} set ${columns[table] ?? ""} = default`, `delete from ${table}`, `truncate ${table}`];
}

/** Changes that touch no row, or that another statement brings along. */
function hiddenChangesOf(table: string, insert: string): string[] {
  return [
    `delete from ${table} where false`,
    `${insert} on conflict do nothing; delete from ${table}`,
    `merge into ${table} using (select) as one on true when matched then delete`,
  ];
}

const columns: Readonly<Record<string, string>> = {
  "sales.sale": "amount_minor",
  "sales.opening_total": "amount_minor",
  "nightwriter.ledger_entry": "delta_minor",
  "nightwriter.audit_log": "actor",
  "nightwriter.acknowledgement": "actor",
};

describe.each(bothPostgres)("an append-only table on PostgreSQL %s", (server) => {
  test("refuses its owner and superuser every change", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    await test.database.session(async (session) => {
      for (const [table, insert] of Object.entries(tables)) {
        await session.query(insert);
        const before = await session.query(`select * from ${table}`);
        for (const change of [...changesOf(table), ...hiddenChangesOf(table, insert)]) {
          await expect(session.query(change), change).rejects.toMatchObject({
            sqlstate: "23001",
            message: expect.stringMatching(/is append-only: \w+ refused/),
          });
        }
        expect(await session.query(`select * from ${table}`)).toEqual(before);
      }
    });
  });

  test("is not emptied by way of a table that it refers to", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    await recordSales(test.db, [{ restaurant: "r0001", businessDate: "2026-03-01", amountMinor: 120 }]);
    const truncate = test.database.session(async (session) => session.query("truncate sales.restaurant cascade"));
    await expect(truncate).rejects.toMatchObject({ sqlstate: "23001" });
    expect(await test.db.selectFrom("sales.sale").select("amount_minor").execute()).toEqual([{ amount_minor: 120n }]);
  });

  test("gives no other role the privilege, only what was granted", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    await test.database.session(async (session) => {
      // Roles belong to the whole cluster: this one is never committed.
      await session.query("begin");
      const role = `"${test.name}_recorder"`;
      await session.query(`create role ${role}; grant usage on schema sales, nightwriter to ${role}`);
      await session.query(`grant select, insert on all tables in schema sales, nightwriter to ${role}`);
      await session.query(`set local role ${role}`);
      for (const [table, insert] of Object.entries(tables)) {
        await session.query(insert);
        for (const change of changesOf(table)) {
          await session.query("savepoint before");
          await expect(session.query(change), change).rejects.toMatchObject({ code: "bug", sqlstate: "42501" });
          await session.query("rollback to savepoint before");
        }
      }
      await session.query("rollback");
    });
  });
});
