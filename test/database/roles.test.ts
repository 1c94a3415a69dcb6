/** What each role may do, asked of the database itself. */
import { ensureRoles, sqlFault } from "@nightwriter/database";
import { schemaLists } from "@nightwriter/restaurant-totals";
import { bothPostgres, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";

const processes = ["scheduler", "worker", "operator", "auditor"] as const;

/** What nobody may change afterwards, whatever a trigger would say. */
const appendOnly = [
  "nightwriter.ledger_entry",
  "nightwriter.audit_log",
  "nightwriter.acknowledgement",
  "nightwriter.job_version",
  "nightwriter.ended_term",
  "sales.sale",
  "sales.opening_total",
  "sales.import",
  "sales.import_need",
  "sales.identity",
] as const;

async function withRoles(server?: (typeof bothPostgres)[number]): Promise<TestDatabase> {
  const test = await testDatabase(server === undefined ? {} : { server });
  await ensureRoles(test.database, { lists: schemaLists });
  return test;
}

/** The SQLSTATE that the statement ends with under the role; undefined if it succeeds. Nothing of it stays. */
async function stateOf({ database }: TestDatabase, role: string, statement: string): Promise<string | undefined> {
  return database.session(async (session) => {
    await session.query("begin");
    try {
      await session.query(`set local role nightwriter_${role}`);
      await session.query(statement);
      return undefined;
    } catch (error) {
      return sqlFault(error).sqlstate;
    } finally {
      await session.query("rollback");
    }
  });
}

describe.each(bothPostgres)("roles on PostgreSQL %s", (server) => {
  it("may neither delete, update nor truncate what is append-only, nor switch its triggers off", async () => {
    await using test = await withRoles(server);
    const states: string[] = [];
    for (const table of appendOnly) {
      const column = (await columnsOf(test, table)).at(-1);
      for (const role of processes) {
        for (const statement of [
          `delete from ${table}`,
          `update ${table} set ${column} = ${column}`,
          `truncate ${table}`,
          `alter table ${table} disable trigger all`,
          `drop table ${table}`,
        ]) {
          const state = await stateOf(test, role, statement);
          if (state !== "42501") states.push(`${role}: ${statement}: ${state ?? "allowed"}`);
        }
      }
    }
    expect(states).toEqual([]);
  });
});

async function columnsOf({ db }: TestDatabase, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
    order by attnum`.execute(db);
  return rows.map(({ name }) => name);
}

describe("ensureRoles", () => {
  it("lets every role read every table, the auditor nothing else, and nobody but the migrator own one", async () => {
    await using test = await withRoles();
    const { rows } = await sql<{ table: string; role: string; reads: boolean; writes: boolean; owner: string }>`
      select c.oid::regclass::text as table, role, has_table_privilege(role, c.oid, 'select') as reads,
        has_table_privilege(role, c.oid, 'insert, update, delete, truncate, references, trigger')
          or has_any_column_privilege(role, c.oid, 'insert, update, references') as writes,
        pg_get_userbyid(c.relowner) as owner
      from pg_class c, unnest(${processes.map((role) => `nightwriter_${role}`)}::text[]) as role
      where c.relnamespace in ('nightwriter'::regnamespace, 'sales'::regnamespace) and c.relkind in ('r', 'v')`.execute(
      test.db,
    );
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter(({ reads, owner }) => !reads || owner !== "nightwriter_migrator")).toEqual([]);
    expect(rows.filter(({ role, writes }) => role === "nightwriter_auditor" && writes)).toEqual([]);
    // Somebody writes each table, but for those of the migrator and the one that a trigger of the owner writes.
    const written = new Set(rows.filter(({ writes }) => writes).map(({ table }) => table));
    const others = new Set(rows.map(({ table }) => table).filter((table) => !written.has(table)));
    expect([...others].toSorted()).toEqual([
      "nightwriter.ended_term",
      "nightwriter.epoch",
      "nightwriter.migration",
      "nightwriter.migration_lock",
      "sales.migration",
      "sales.migration_lock",
    ]);
  });

  it("takes back what somebody had granted, and changes nothing when it is run again", async () => {
    await using test = await withRoles();
    await sql`grant delete on nightwriter.run_item to nightwriter_auditor`.execute(test.db);
    await sql`grant update (total_minor) on nightwriter.key_total to nightwriter_operator`.execute(test.db);
    await ensureRoles(test.database, { lists: schemaLists });
    await ensureRoles(test.database, { lists: schemaLists });
    expect(await stateOf(test, "auditor", "delete from nightwriter.run_item")).toBe("42501");
    expect(await stateOf(test, "operator", "update nightwriter.key_total set total_minor = 0")).toBe("42501");
  });

  it("gives roles without a login", async () => {
    await using test = await withRoles();
    const { rows } = await sql<{ can: string }>`
      select rolname as can from pg_roles where rolname like 'nightwriter\\_%'
        and (rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)
        and rolname in (select 'nightwriter_' || unnest(array['migrator', 'scheduler', 'worker', 'operator', 'auditor']))`.execute(
      test.db,
    );
    expect(rows).toEqual([]);
  });
});
