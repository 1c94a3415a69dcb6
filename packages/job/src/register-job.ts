/** Bringing in a build's source query: the one way for a process, the other for a person. */
import { Fault } from "@nightwriter/core";
import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Transaction } from "kysely";
import { type CodeVersion, codeVersionOf } from "./code-version.ts";
import { lockJob, makeMissing } from "./ensure-job.ts";
import type { JobDefinition } from "./job-definition.ts";
import { assertCurrent, type Job } from "./job-store.ts";
import { nextQueryVersion, standingOf } from "./stored-version.ts";

/**
 * For a process that is to sum: {@link ensureJob}, and this build's query is in force afterwards. It is brought in only if it was never
 * stored and its number is above all that were; a query that was replaced, or whose number is another's, is refused with a
 * Fault of {@link JobFaultCode}. A stored query whose hash nobody knows is taken for the first build's that calls its by that number.
 *
 * Idempotent, also when many processes start at once. Throws SqlFault too.
 */
export async function registerJob(database: Database, definition: JobDefinition): Promise<Job> {
  return onRow(database, definition, async (transaction, found) => {
    const code = codeVersionOf(definition);
    if (standingOf(code, found.history) === "current") return found;
    // Read again, now that nobody else can move the number.
    const job = await lockJob(transaction, definition);
    switch (standingOf(code, job.history)) {
      case "claim":
        return claim(transaction, job, code);
      case "new":
        return bringIn(transaction, job, { code, reason: undefined });
      case "current":
      case "replaced":
      case "reused":
        assertCurrent(job);
        return job;
    }
  });
}

/**
 * For a person's act: this build's query is in force afterwards, under a new stored number if it was not, also where it was in force
 * before. `changed` is called in the same transaction if anything was changed. Throws Fault `query_version_reused`, SqlFault, and
 * what `changed` throws.
 */
export async function deployJob(
  database: Database,
  definition: JobDefinition,
  { reason, changed }: DeployOptions,
): Promise<{ readonly before: Job; readonly after: Job }> {
  return onRow(database, definition, async (transaction) => {
    const before = await lockJob(transaction, definition);
    const code = codeVersionOf(definition);
    const after = await deployed(transaction, before, { code, reason });
    if (after !== before) await changed(transaction, { before, after });
    return { before, after };
  });
}

/** The stored number that {@link deployJob} would end with; throws what it would throw. Changes nothing. */
export function plannedDeploy(job: Job): number {
  const code = codeVersionOf(job.definition);
  switch (standingOf(code, job.history)) {
    case "new":
    case "replaced":
      return nextQueryVersion(code, job.history);
    case "reused":
    case "current":
    case "claim":
      assertCurrent(job);
      return job.history.queryVersion;
  }
}

/** Why a query is brought in, and who is to hear of it. */
export interface DeployOptions {
  /** In the person's own words; kept with the version. */
  readonly reason: string;
  readonly changed: (transaction: Transaction<Schema>, jobs: { before: Job; after: Job }) => Promise<void>;
}

type Arrival = { readonly code: CodeVersion; readonly reason: string | undefined };

async function deployed(transaction: Transaction<Schema>, job: Job, arrival: Arrival): Promise<Job> {
  switch (standingOf(arrival.code, job.history)) {
    case "current":
      return job;
    case "claim":
      return claim(transaction, job, arrival.code);
    case "new":
    case "replaced":
      return bringIn(transaction, job, arrival);
    case "reused":
      assertCurrent(job);
      return job;
  }
}

async function onRow<Result>(
  { db }: Database,
  definition: JobDefinition,
  work: (transaction: Transaction<Schema>, job: Job) => Promise<Result>,
): Promise<Result> {
  try {
    return await db
      .transaction()
      .setIsolationLevel("read committed")
      .execute(async (transaction) => work(transaction, await makeMissing(transaction, definition)));
  } catch (error) {
    throw error instanceof Fault ? error : sqlFault(error);
  }
}

/** Fills in the hash that nobody knew. The row of the job is locked, so that one of many does. */
async function claim(transaction: Transaction<Schema>, job: Job, { queryHash }: CodeVersion): Promise<Job> {
  await transaction
    .updateTable("nightwriter.job_version")
    .set({ query_hash: queryHash ?? null })
    .where("job_id", "=", job.id)
    .where("query_version", "=", job.history.queryVersion)
    .where("query_hash", "is", null)
    .execute();
  return lockJob(transaction, job.definition);
}

/** The history first: the trigger on the job's row notes down only what is not there. */
async function bringIn(transaction: Transaction<Schema>, job: Job, { code, reason }: Arrival): Promise<Job> {
  const queryVersion = nextQueryVersion(code, job.history);
  await transaction
    .insertInto("nightwriter.job_version")
    .values({
      job_id: job.id,
      query_version: queryVersion,
      code_version: code.number,
      query_hash: code.queryHash ?? null,
      reason: reason ?? null,
    })
    .execute();
  await transaction
    .updateTable("nightwriter.job")
    .set({ query_version: queryVersion })
    .where("id", "=", job.id)
    .execute();
  return lockJob(transaction, job.definition);
}
