/** A finding that somebody looked into is told apart from then on, as long as it stays as it is. */
import { type Actor, recordAudit } from "@nightwriter/audit";
import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import type { Transaction } from "kysely";
import type { Violation } from "./rules/rule.ts";
import { findFindings, type VerifyOptions } from "./verify.ts";

/** Which findings, by the ids that verify gives them, and in whose name. */
export interface AcknowledgeRequest extends Pick<VerifyOptions, "now" | "onProgress"> {
  readonly findings: readonly string[];
  /** Takes their acknowledgements back instead. */
  readonly withdraw: boolean;
  readonly actor: Actor;
  readonly reason: string;
}

export type Acknowledging =
  /** Findings that were acknowledged before, or not at all when that was to be taken back, are not among `changed`. */
  | { readonly outcome: "done"; readonly changed: readonly Violation[] }
  /** Nothing was changed: these ids are of no finding that there is. */
  | { readonly outcome: "unknown"; readonly findings: readonly string[] };

/**
 * Afterwards verify counts these findings as acknowledged, or, with `withdraw`, as violations again; the audit log says so in the same
 * transaction. All of them or none. The findings are looked for by a verification of the whole job, which takes its time and the same
 * two patient connections as {@link verify}: what is acknowledged is what stands there now, and bound to it. Throws SqlFault.
 */
export async function acknowledgeFindings(
  database: Database,
  job: Job,
  { withdraw, actor, reason, ...search }: AcknowledgeRequest,
): Promise<Acknowledging> {
  const { rules } = await findFindings(database, job, search);
  const open = rules.flatMap(({ violations }) => violations);
  const acknowledged = rules.flatMap((rule) => rule.acknowledged);
  const there = new Set([...open, ...acknowledged].map(({ finding }) => finding));
  const unknown = search.findings.filter((finding) => !there.has(finding));
  if (unknown.length > 0) return { outcome: "unknown", findings: unknown };
  const changed = distinct(withdraw ? acknowledged : open);
  if (changed.length === 0) return { outcome: "done", changed };
  try {
    await database.db.transaction().execute(async (transaction) => {
      await insertAcknowledgements(transaction, job, { changed, withdraw, actor, reason });
      await recordAudit(transaction, {
        actor,
        verb: "acknowledge",
        jobId: job.id,
        arguments: { findings: search.findings, withdraw },
        reason,
        before: { acknowledged: withdraw },
        after: { acknowledged: !withdraw, findings: changed },
      });
    });
  } catch (error) {
    throw sqlFault(error);
  }
  return { outcome: "done", changed };
}

/** Two rows may be the same finding: doubles, word by word. */
function distinct(found: readonly Violation[]): Violation[] {
  return [...new Map(found.map((each) => [each.finding, each])).values()];
}

type Insertion = Pick<AcknowledgeRequest, "withdraw" | "actor" | "reason"> & { readonly changed: readonly Violation[] };

async function insertAcknowledgements(
  transaction: Transaction<Schema>,
  job: Job,
  { changed, withdraw, actor, reason }: Insertion,
): Promise<void> {
  const rows = changed.map((each) => ({
    job_id: job.id,
    finding: each.finding,
    rule: each.rule,
    measure: each.measure,
    key: each.key ?? null,
    business_date: each.businessDate?.toString() ?? null,
    run_id: each.runId ?? null,
    version: each.version ?? null,
    expected: each.expected?.toString() ?? null,
    actual: each.actual?.toString() ?? null,
    is_withdrawn: withdraw,
    reason,
    actor: actor.name,
  }));
  // A statement has 65,535 parameters at most.
  for (let start = 0; start < rows.length; start += 1_000) {
    await transaction
      .insertInto("nightwriter.acknowledgement")
      .values(rows.slice(start, start + 1_000))
      .execute();
  }
}
