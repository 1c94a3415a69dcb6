/**
 * The tables, as Kysely sees them. What the driver hands over: bigint as BigInt, date as 'YYYY-MM-DD', time as
 * 'HH:MM:SS', timestamptz as Date, xid8 and pg_snapshot as their text.
 */
import type { ColumnType, Generated, GeneratedAlways } from "kysely";

/** A bigint column: BigInt out; in, BigInt or a safe integer. */
type Bigint = ColumnType<bigint, bigint | number, bigint | number>;
type GeneratedBigint = ColumnType<bigint, bigint | number | undefined, bigint | number>;
/** Set by the database when the row is inserted, and never again. */
type Stamped<T> = ColumnType<T, T | undefined, never>;

export type RunKind = "nightly" | "manual" | "rerun" | "backfill" | "opening";
export type RunItemStatus = "due" | "parked" | "cancelled";

export interface EpochTable {
  epoch: number;
  system_identifier: Bigint;
  started_at: Stamped<Date>;
  installation: Generated<string>;
}

export interface ClaimTable {
  prefix: string;
  /** Cluster and database that it was written in. */
  place: string;
  claim: string;
}

export interface JobTable {
  id: GeneratedAlways<number>;
  name: string;
  partition_count: number;
  closed_through: string | null;
  query_version: Generated<number>;
  fencing_token: GeneratedBigint;
  /** Terms with a larger token are kept when they end. */
  ended_terms_after: GeneratedBigint;
  created_at: Stamped<Date>;
}

/** A source query that is or was in force: never changed, but for a hash that was not known. */
export interface JobVersionTable {
  job_id: number;
  /** The stored number, which entries carry. */
  query_version: number;
  /** What the code calls the query. */
  code_version: number;
  /** Null: brought in by a build that knew no hashes. */
  query_hash: string | null;
  /** The process, by its application_name. */
  brought_by: Stamped<string>;
  database_role: Stamped<string>;
  reason: string | null;
  brought_at: Stamped<Date>;
}

export interface PartitionTermTable {
  job_id: number;
  partition: number;
  fencing_token: Bigint;
  nonce: Generated<string>;
  holder: string;
  since: Generated<Date>;
  /** When its holder ended the term in good order; null while it lasts, and if the holder vanished. */
  sealed_at: Date | null;
}

export interface EndedTermTable {
  id: ColumnType<bigint, never, never>;
  job_id: number;
  partition: number;
  fencing_token: Bigint;
  nonce: string;
  holder: string;
  since: Date;
  ended_at: Stamped<Date>;
  /** Saw every write of the term. */
  ended_snapshot: string;
  xid: Stamped<string>;
  epoch: Stamped<number>;
}

export interface LeaseTable {
  name: string;
  holder: string;
  nonce: string;
  expires_at: Date;
}

export interface WorkerTable {
  name: string;
  host: string;
  pid: number;
  started_at: Generated<Date>;
  seen_at: Generated<Date>;
  left_at: Date | null;
  refused_writes: GeneratedBigint;
  /** "job/partition" to an ISO instant. */
  last_entries: ColumnType<Record<string, string>, string | undefined, string>;
}

export interface RunTable {
  id: ColumnType<bigint, never, never>;
  job_id: number;
  business_date: string;
  kind: RunKind;
  request_id: string | null;
  /** SHA-256 of the keys that a request named, null if it named none: the same request id must mean the same. */
  request_digest: string | null;
  revision: GeneratedBigint;
  plan_snapshot: string | null;
  plan_epoch: number | null;
  /** Ids of the runs that were unfinished in the plan's snapshot. */
  plan_overlaps: bigint[] | null;
  created_at: Stamped<Date>;
  planned_at: Date | null;
  finished_at: Date | null;
  cancelled_at: Date | null;
}

export interface RunItemTable {
  run_id: Bigint;
  business_date: string;
  key: string;
  partition: number;
  status: Generated<RunItemStatus>;
  generation: Generated<number>;
  /** SQLSTATE or kind of damage that it was parked for last. */
  parked_for: string | null;
}

export interface KeyTotalTable {
  job_id: number;
  key: string;
  total_minor: GeneratedBigint;
  version: GeneratedBigint;
  fencing_token: GeneratedBigint;
  paused_at: Date | null;
  /** Rises whenever paused_at changes. */
  revision: ColumnType<bigint, never, never>;
}

export interface LedgerEntryTable {
  job_id: number;
  run_id: Bigint;
  key: string;
  business_date: string;
  delta_minor: Bigint;
  source_count: Bigint;
  fencing_token: Bigint;
  version_after: Bigint;
  total_after: Bigint;
  source_snapshot: string;
  xid: Stamped<string>;
  epoch: Stamped<number>;
  worker: string;
  applied_at: Stamped<Date>;
  query_version: Stamped<number>;
}

export interface AttemptTable {
  run_id: Bigint;
  business_date: string;
  key: string;
  outcome: "duplicate" | "fenced" | "conflict" | "withdrawn" | "unknown" | "failing" | "parked";
  reason: string;
  sqlstate: string | null;
  fencing_token: Bigint | null;
  worker: string;
  /** How often: an inserted row is added to the one of its item, outcome and worker. */
  count: GeneratedBigint;
  first_at: Stamped<Date>;
  last_at: Stamped<Date>;
}

/** A document in a jsonb column: an object out, its text in. */
type Json = ColumnType<unknown, string | null | undefined, never>;

export interface AuditLogTable {
  id: ColumnType<bigint, never, never>;
  /** Null: the change is about no job of its own. */
  job_id: number | null;
  verb: string;
  actor: string;
  host: string;
  database_role: Stamped<string>;
  reason: string | null;
  arguments: Json;
  before: Json;
  after: Json;
  recorded_at: Stamped<Date>;
  xid: Stamped<string>;
  epoch: Stamped<number>;
}

/** A finding of verify that somebody looked into; the last row of a finding holds. */
export interface AcknowledgementTable {
  id: ColumnType<bigint, never, never>;
  job_id: number;
  /** Its id: a hash of all from rule to actual. */
  finding: string;
  rule: string;
  measure: string;
  key: string | null;
  business_date: string | null;
  run_id: bigint | null;
  version: bigint | null;
  /** Numerics, as text. */
  expected: string | null;
  actual: string | null;
  is_withdrawn: Generated<boolean>;
  reason: string;
  actor: string;
  acknowledged_at: Stamped<Date>;
  xid: Stamped<string>;
  epoch: Stamped<number>;
}

export interface RestaurantTable {
  id: string;
  name: string;
  time_zone: string;
  cutoff: Generated<string>;
  currency: string;
  active: Generated<boolean>;
  created_at: Stamped<Date>;
}

export interface SaleTable {
  restaurant_id: string;
  business_date: string;
  source: string;
  source_line: Bigint;
  amount_minor: Bigint;
  recorded_at: Stamped<Date>;
  xid: Stamped<string>;
  epoch: Stamped<number>;
}

export interface OpeningTotalTable {
  restaurant_id: string;
  business_date: string;
  amount_minor: Bigint;
  source: string;
  recorded_at: Stamped<Date>;
  xid: Stamped<string>;
  epoch: Stamped<number>;
}

export interface SchedulerTable {
  name: string;
  host: string;
  pid: number;
  started_at: Generated<Date>;
  seen_at: Generated<Date>;
  left_at: Date | null;
  leads: Generated<boolean>;
  since: Generated<Date>;
  clock_ahead_ms: Generated<number>;
  hindrance: string | null;
}

/** Every table, under its qualified name. */
export interface Schema {
  "nightwriter.claim": ClaimTable;
  "nightwriter.epoch": EpochTable;
  "nightwriter.job": JobTable;
  "nightwriter.job_version": JobVersionTable;
  "nightwriter.partition_term": PartitionTermTable;
  "nightwriter.ended_term": EndedTermTable;
  "nightwriter.lease": LeaseTable;
  "nightwriter.worker": WorkerTable;
  "nightwriter.scheduler": SchedulerTable;
  "nightwriter.run": RunTable;
  "nightwriter.run_item": RunItemTable;
  "nightwriter.key_total": KeyTotalTable;
  "nightwriter.ledger_entry": LedgerEntryTable;
  "nightwriter.attempt": AttemptTable;
  "nightwriter.audit_log": AuditLogTable;
  "nightwriter.acknowledgement": AcknowledgementTable;
  "sales.restaurant": RestaurantTable;
  "sales.sale": SaleTable;
  "sales.opening_total": OpeningTotalTable;
}
