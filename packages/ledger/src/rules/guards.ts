/**
 * The constraints and triggers that the proof leans on, in one list. Most damage is found by what it does; what these keep out, no rule
 * could see afterwards, or nobody would look for: so verify asks whether they are there, valid and enabled.
 *
 * Checks that a row carries its own stamp are never validated, on purpose: they are about rows that are yet to be written.
 */
import { sql } from "kysely";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import type { Finding } from "./rule.ts";

/** Constraints by table, with their definition in the server's words. */
const constraints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  key_total: { key_total_pkey: "PRIMARY KEY (job_id, key)" },
  ledger_entry: {
    ledger_entry_item: "UNIQUE (job_id, business_date, key, run_id)",
    ledger_entry_version: "UNIQUE (job_id, version_after, key)",
  },
  run_item: { run_item_pkey: "PRIMARY KEY (run_id, business_date, key)" },
  run: { run_pkey: "PRIMARY KEY (id)" },
  partition_term: { partition_term_pkey: "PRIMARY KEY (job_id, partition)" },
};

/** Unique indexes that are no constraints, since they are about some rows only. */
const indexes: readonly string[] = ["run_nightly", "run_request"];

/** Triggers by table. */
const triggers: Readonly<Record<string, readonly string[]>> = {
  key_total: ["key_total_stays"],
  ledger_entry: ["ledger_entry_append_only"],
  partition_term: [
    "partition_term_kept",
    "partition_term_next_token",
    "partition_term_own_token",
    "partition_term_removed",
    "partition_term_replaced",
  ],
  ended_term: ["ended_term_append_only"],
  audit_log: ["audit_log_append_only"],
};

/** Each guard that is missing, not valid or switched off. */
export async function findMissingGuards(inspection: Inspection): Promise<Finding[]> {
  const wanted = [
    ...Object.entries(constraints).flatMap(([table, of]) =>
      Object.entries(of).map(([name, definition]) => ({ kind: "constraint", table, name, definition })),
    ),
    ...indexes.map((name) => ({ kind: "index", table: "run", name, definition: "" })),
    ...Object.entries(triggers).flatMap(([table, names]) =>
      names.map((name) => ({ kind: "trigger", table, name, definition: "" })),
    ),
  ];
  return findViolations(
    inspection,
    sql<ViolationRow>`
      select 'guards-in-place' as rule, guard.kind || ' ' || guard.name || ' of nightwriter.' || guard."table" as measure, null as key,
        null::date as business_date, null::bigint as run_id, null::bigint as version, '1' as expected, '0' as actual
      from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as guard(kind text, "table" text, name text, definition text)
      left join pg_class as class
        on class.relnamespace = (select oid from pg_namespace where nspname = 'nightwriter') and class.relname = guard."table"
      where not case guard.kind
        when 'constraint' then exists (
          select from pg_constraint as it join pg_index on pg_index.indexrelid = it.conindid
          where it.conrelid = class.oid and it.conname = guard.name and it.convalidated
            and pg_index.indisunique and pg_index.indisvalid and pg_index.indisready
            and pg_get_constraintdef(it.oid) = guard.definition)
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
