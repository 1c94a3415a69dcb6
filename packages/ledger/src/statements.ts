/** The ledger's statements for a job, compiled at its first use and kept as long as the job is. */
import type { Database, Statement } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type ExplanationRow, type ExplanationValues, explanation } from "./explain-outcomes.ts";
import { type GuardedWriteValues, guardedWrite, type WrittenRow } from "./guarded-write.ts";

export interface LedgerStatements {
  readonly write: Statement<GuardedWriteValues, WrittenRow>;
  readonly explain: Statement<ExplanationValues, ExplanationRow>;
}

const compiled = new WeakMap<Job, LedgerStatements>();

export function statementsOf({ db }: Database, job: Job): LedgerStatements {
  const known = compiled.get(job);
  if (known !== undefined) return known;
  const statements = { write: guardedWrite(db, job), explain: explanation(db, job) };
  compiled.set(job, statements);
  return statements;
}
