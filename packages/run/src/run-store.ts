/** Rows of runs: found and made, under the planning lock. */
import type { RunKind } from "@nightwriter/database";
import type { Planning } from "./planning.ts";
import { type RunRow, runColumns } from "./run.ts";

/** The nightly run of the business date, if there is one. */
export async function findNightlyRun({ db, job }: Planning, businessDate: string): Promise<RunRow | undefined> {
  return db
    .selectFrom("nightwriter.run")
    .select(runColumns)
    .where("job_id", "=", job.id)
    .where("business_date", "=", businessDate)
    .where("kind", "=", "nightly")
    .executeTakeFirst();
}

/** The run that a request made, if it made one. */
export async function findRequestedRun(
  { db, job }: Planning,
  requestId: string,
): Promise<(RunRow & { request_digest: string | null }) | undefined> {
  return db
    .selectFrom("nightwriter.run")
    .select([...runColumns, "request_digest"])
    .where("job_id", "=", job.id)
    .where("request_id", "=", requestId)
    .where("kind", "<>", "nightly")
    .executeTakeFirst();
}

export interface NewRun {
  readonly kind: RunKind;
  readonly businessDate: string;
  readonly requestId?: string;
  readonly requestDigest?: string | undefined;
}

/** The caller has looked for it under the lock; should somebody have made it without, the unique index says so. */
export async function insertRun({ db, job }: Planning, run: NewRun): Promise<RunRow> {
  return db
    .insertInto("nightwriter.run")
    .values({
      job_id: job.id,
      kind: run.kind,
      business_date: run.businessDate,
      request_id: run.requestId ?? null,
      request_digest: run.requestDigest ?? null,
    })
    .returning(runColumns)
    .executeTakeFirstOrThrow();
}

/** The run of this id, which exists: the caller has just found or made it. */
export async function getRun({ db }: Planning, id: bigint): Promise<RunRow> {
  return db.selectFrom("nightwriter.run").select(runColumns).where("id", "=", id).executeTakeFirstOrThrow();
}
