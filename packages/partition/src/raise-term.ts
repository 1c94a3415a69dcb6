/**
 * Beginning and ending a term.
 *
 * Both change the row that the guarded write locks `for share`, so each waits for the partition's write in flight and shuts the
 * next one out. The raise locks that row before it touches the job's counter: otherwise a slow write in one partition would
 * keep the counter locked, and with it every other partition's raise.
 */
import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { sql } from "kysely";
import { PartitionFault } from "./partition-fault.ts";
import type { Term } from "./term-store.ts";

/** Whose term begins. */
export interface TermClaim {
  readonly partition: number;
  /** The process, by its name. */
  readonly holder: string;
  /** A UUID: the nonce of the lease under which the partition is held. */
  readonly nonce: string;
}

/**
 * Begins a term: afterwards its token is larger than any that the job has handed out before, and no write of an earlier term
 * of the partition can land. Waits for a write that is in flight, as long as the lock timeout allows.
 *
 * It does not ask who else claims the partition: leases do that, and may be wrong; the last raise wins. Throws PartitionFault, and
 * SqlFault: whether the term was raised is not known then, and raising it again is safe.
 */
export async function raiseTerm({ db }: Database, job: Job, { partition, holder, nonce }: TermClaim): Promise<Term> {
  const raise = db
    .with("mine", (cte) =>
      cte
        .selectFrom("nightwriter.partition_term")
        .select("partition")
        .where("job_id", "=", job.id)
        .where("partition", "=", partition)
        .forNoKeyUpdate(),
    )
    .with("raised", (cte) =>
      cte
        .updateTable("nightwriter.job")
        .from("mine")
        .set((eb) => ({ fencing_token: eb("nightwriter.job.fencing_token", "+", 1n) }))
        .where("id", "=", job.id)
        .returning("nightwriter.job.fencing_token"),
    )
    .updateTable("nightwriter.partition_term as term")
    .from("raised")
    .set((eb) => ({
      fencing_token: eb.ref("raised.fencing_token"),
      nonce,
      holder,
      since: sql<Date>`clock_timestamp()`,
      sealed_at: null,
    }))
    .where("term.job_id", "=", job.id)
    .where("term.partition", "=", partition)
    .returning("term.fencing_token");
  const row = await raise.executeTakeFirst().catch((error: unknown) => Promise.reject(sqlFault(error)));
  if (row === undefined) {
    throw new PartitionFault(
      "partition_unknown",
      `partition ${partition} of job ${job.definition.name}: has no term; its count was changed`,
      { details: { job: job.definition.name, partition }, retryable: true },
    );
  }
  return { partition, fencingToken: row.fencing_token, nonce };
}

/**
 * Ends a term in good order: afterwards no write of it can land, not even one that is still on its way, and the row says when
 * that was. False, and nothing is changed, if the partition's term is another by now. Waits for a write in flight, as long as the
 * lock timeout allows. Throws SqlFault: the term may or may not be sealed then; the next raise ends it anyway.
 */
export async function sealTerm({ db }: Database, job: Job, term: Term): Promise<boolean> {
  try {
    const { numUpdatedRows } = await db
      .updateTable("nightwriter.partition_term")
      .set({ nonce: sql<string>`gen_random_uuid()`, sealed_at: sql<Date>`clock_timestamp()` })
      .where("job_id", "=", job.id)
      .where("partition", "=", term.partition)
      .where("fencing_token", "=", term.fencingToken)
      .where("nonce", "=", term.nonce)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  } catch (error) {
    throw sqlFault(error);
  }
}
