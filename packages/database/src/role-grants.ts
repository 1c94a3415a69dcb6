/**
 * Who may write what: a line for each table, and the compiler asks for one when a table is new. Every role may read everything.
 *
 * The columns are the ones that the shipped statements name. Who locks a row (`for share` too) must be allowed to update some column of
 * it, so a worker may move a run's revision. Nobody is given update, delete or truncate of what is append-only, nor owns a
 * table, without which no trigger can be switched off: the migrator alone does, and no process runs as it.
 */
import type { Schema } from "./schema.ts";

/** The roles that may write. `migrator` owns the schemas, `auditor` may read and nothing else. */
export type WritingRole = "scheduler" | "worker" | "operator";

/** Privileges with their columns, as `grant` takes them. */
export type RoleGrants = Readonly<Partial<Record<WritingRole, string>>>;

const everybody = (privileges: string): RoleGrants => ({
  scheduler: privileges,
  worker: privileges,
  operator: privileges,
});

const makesJobs = "insert (name, partition_count, query_version, fencing_token)";
const makesTerms = "insert (job_id, partition, fencing_token, nonce, holder)";
const makesRuns = "insert (job_id, business_date, kind, request_id, request_digest, planned_at)";
const plansRuns = "update (plan_snapshot, plan_epoch, plan_overlaps, planned_at, finished_at";
const makesItems = "insert (run_id, business_date, key, partition)";

export const tableGrants: Readonly<Record<keyof Schema, RoleGrants>> = {
  "nightwriter.epoch": {},
  "nightwriter.job": {
    scheduler: `${makesJobs}, update (query_version)`,
    worker: `${makesJobs}, update (query_version, fencing_token)`,
    operator: `${makesJobs}, update (query_version, fencing_token, partition_count)`,
  },
  "nightwriter.job_version": everybody(
    "insert (job_id, query_version, code_version, query_hash, reason), update (query_hash)",
  ),
  "nightwriter.partition_term": {
    scheduler: makesTerms,
    worker: `${makesTerms}, update (fencing_token, nonce, holder, since, sealed_at)`,
    operator: `${makesTerms}, update (fencing_token, nonce, holder, since, sealed_at), delete`,
  },
  // Written by a trigger that runs as the owner.
  "nightwriter.ended_term": {},
  "nightwriter.lease": { scheduler: "insert, update, delete", worker: "insert, update, delete" },
  "nightwriter.claim": everybody("insert (prefix, place, claim), update (claim)"),
  "nightwriter.worker": { worker: "insert, update, delete" },
  "nightwriter.scheduler": { scheduler: "insert, update, delete" },
  "nightwriter.run": {
    scheduler: `${makesRuns}, ${plansRuns})`,
    worker: "update (revision)",
    operator: `${makesRuns}, ${plansRuns}, revision, cancelled_at)`,
  },
  "nightwriter.run_item": {
    scheduler: `${makesItems}, update (generation)`,
    worker: "update (status, parked_for)",
    operator: `${makesItems}, update (generation, status, parked_for, partition)`,
  },
  "nightwriter.key_total": {
    scheduler: "insert (job_id, key)",
    worker: "update (total_minor, version, fencing_token)",
    operator: "insert (job_id, key), update (paused_at)",
  },
  "nightwriter.ledger_entry": { worker: "insert" },
  "nightwriter.attempt": {
    worker: "insert, update (reason, sqlstate, fencing_token, count, first_at, last_at)",
  },
  "nightwriter.audit_log": {
    operator: "insert (job_id, verb, actor, host, reason, arguments, before, after)",
  },
  "nightwriter.acknowledgement": {
    operator:
      "insert (job_id, finding, rule, measure, key, business_date, run_id, version, expected, actual, is_withdrawn, reason, actor)",
  },
  "sales.restaurant": { operator: "insert (id, name, time_zone, cutoff, currency)" },
  "sales.sale": { operator: "insert (restaurant_id, business_date, source, source_line, amount_minor, epoch)" },
  "sales.opening_total": { operator: "insert (restaurant_id, business_date, amount_minor, source)" },
};
