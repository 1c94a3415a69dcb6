/**
 * The constraints and triggers that the proof leans on, in one list. Most damage is found by what it does; what these keep out, no rule
 * could see afterwards, or nobody would look for: so verify asks whether they are there, valid and enabled.
 *
 * Checks that a row carries its own stamp are never validated, on purpose: they are about rows that are yet to be written. Tables of
 * rooms that this database does not have have no guards either; a job of your own guards its tables itself.
 */
import { sql } from "kysely";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import type { Finding } from "./rule.ts";

/** Constraints by table, with their definition in the server's words. */
const constraints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "nightwriter.key_total": { key_total_pkey: "PRIMARY KEY (job_id, key)" },
  "nightwriter.ledger_entry": {
    ledger_entry_item: "UNIQUE (job_id, business_date, key, run_id)",
    ledger_entry_version: "UNIQUE (job_id, version_after, key)",
  },
  "nightwriter.run_item": { run_item_pkey: "PRIMARY KEY (run_id, business_date, key)" },
  "nightwriter.run": { run_pkey: "PRIMARY KEY (id)" },
  "nightwriter.partition_term": { partition_term_pkey: "PRIMARY KEY (job_id, partition)" },
};

/** Tables whose rows carry the stamp of the transaction that writes them. */
const stamped: readonly string[] = [
  "nightwriter.acknowledgement",
  "nightwriter.audit_log",
  "nightwriter.ended_term",
  "nightwriter.ledger_entry",
  "sales.opening_total",
  "sales.sale",
];

/** Unique indexes that are no constraints, since they are about some rows only. */
const indexes: readonly string[] = ["run_nightly", "run_request"];

/** Tables that take new rows and no changes. */
const appendOnly: readonly string[] = [
  "nightwriter.acknowledgement",
  "nightwriter.audit_log",
  "nightwriter.ended_term",
  "nightwriter.job_version",
  "nightwriter.ledger_entry",

  "sales.identity",
  "sales.import",
  "sales.import_need",
  "sales.opening_total",
  "sales.sale",
];

/** Other triggers by table. */
const triggers: Readonly<Record<string, readonly string[]>> = {
  "nightwriter.job_version": ["job_version_kept"],
  "nightwriter.key_total": ["key_total_stays"],
  "nightwriter.partition_term": [
    "partition_term_kept",
    "partition_term_next_token",
    "partition_term_own_token",
    "partition_term_removed",
    "partition_term_replaced",
  ],
};

interface Guard {
  readonly kind: "constraint" | "stamp" | "index" | "trigger";
  readonly table: string;
  readonly name: string;
  readonly definition?: string;
}

const guards: readonly Guard[] = [
  ...Object.entries(constraints).flatMap(([table, of]) =>
    Object.entries(of).map(([name, definition]) => ({ kind: "constraint" as const, table, name, definition })),
  ),
  ...stamped.map((table) => ({ kind: "stamp" as const, table, name: `${nameOf(table)}_own_stamp` })),
  ...indexes.map((name) => ({ kind: "index" as const, table: "nightwriter.run", name })),
  ...appendOnly.map((table) => ({ kind: "trigger" as const, table, name: `${nameOf(table)}_append_only` })),
  ...Object.entries(triggers).flatMap(([table, names]) =>
    names.map((name) => ({ kind: "trigger" as const, table, name })),
  ),
];

function nameOf(table: string): string {
  return table.slice(table.indexOf(".") + 1);
}

/** Each guard that is missing, not valid or switched off. */
export async function findMissingGuards(inspection: Inspection): Promise<Finding[]> {
  return findViolations(
    inspection,
    sql<ViolationRow>`
      select 'guards-in-place' as rule, guard.kind || ' ' || guard.name || ' of ' || guard."table" as measure, null as key,
        null::date as business_date, null::bigint as run_id, null::bigint as version, '1' as expected, '0' as actual
      from jsonb_to_recordset(${JSON.stringify(guards)}::jsonb) as guard(kind text, "table" text, name text, definition text)
      join pg_class as class on class.oid = to_regclass(guard."table")
      where not case guard.kind
        when 'constraint' then exists (
          select from pg_constraint as it join pg_index on pg_index.indexrelid = it.conindid
          where it.conrelid = class.oid and it.conname = guard.name and it.convalidated
            and pg_index.indisunique and pg_index.indisvalid and pg_index.indisready
            and pg_get_constraintdef(it.oid) = guard.definition)
        when 'stamp' then exists (
          select from pg_constraint as it
          where it.conrelid = class.oid and it.conname = guard.name and it.contype = 'c'
            and pg_get_constraintdef(it.oid) like '%nightwriter.is_own_stamp(xid, epoch, ' || quote_literal(guard."table") || '::text)%')
        when 'index' then exists (
          select from pg_index as it join pg_class as named on named.oid = it.indexrelid
          where it.indrelid = class.oid and named.relname = guard.name
            and it.indisunique and it.indisvalid and it.indisready)
        else exists (
          select from pg_trigger as it
          where it.tgrelid = class.oid and it.tgname = guard.name and it.tgenabled in ('O', 'A'))
      end`,
  );
}
