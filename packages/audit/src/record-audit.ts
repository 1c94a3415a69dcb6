import { toJson } from "@nightwriter/core";
import type { Schema } from "@nightwriter/database";
import type { InsertQueryBuilder, InsertResult, Kysely, Transaction } from "kysely";

/** Who makes a change, and from which machine. Both are what the person's process says of itself, for people to ask. */
export interface Actor {
  readonly name: string;
  readonly host: string;
}

/** What is written down of a change. */
export interface AuditRecord {
  readonly actor: Actor;
  /** As it was typed, without options: `items retry`. */
  readonly verb: string;
  /** Absent: the change is about no job of its own. */
  readonly jobId?: number | undefined;
  /** What the verb was given. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Why, in the person's own words. Absent: nobody was asked. */
  readonly reason?: string | undefined;
  /** What stood there and what stands there now, as far as the verb changed it. Money and ids may be bigint. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * Writes the record down in the transaction of the change itself: both are committed, or neither is. Throws the
 * driver's error, which belongs to the transaction.
 */
export async function recordAudit(transaction: Transaction<Schema>, record: AuditRecord): Promise<void> {
  await auditStatement(transaction, record).execute();
}

/** The same as a statement, for whoever has the transaction in a session of his own. */
export function auditStatement(
  db: Kysely<Schema>,
  record: AuditRecord,
): InsertQueryBuilder<Schema, "nightwriter.audit_log", InsertResult> {
  return db.insertInto("nightwriter.audit_log").values({
    job_id: record.jobId ?? null,
    verb: record.verb,
    actor: record.actor.name,
    host: record.actor.host,
    reason: record.reason ?? null,
    arguments: toJson(record.arguments ?? {}),
    before: documentOf(record.before),
    after: documentOf(record.after),
  });
}

function documentOf(value: unknown): string | null {
  return value === undefined ? null : toJson(value);
}
