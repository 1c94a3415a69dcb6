/** Terms as Postgres knows them: the only place where a fencing token comes from. */
import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";

/** One unbroken holding of a partition. A term is mine only if token and nonce both are. */
export interface Term {
  readonly partition: number;
  /** Larger at each term of the job, never changed within one. */
  readonly fencingToken: bigint;
  /** A UUID drawn with the token: tells two terms apart whose token is the same after a failover that forgot. */
  readonly nonce: string;
}

/**
 * The current term of each partition that the job has now, in partition order, whoever holds it. A worker without leases writes
 * under these and never raises them. Throws SqlFault.
 */
export async function readTerms({ db }: Database, job: Job): Promise<Term[]> {
  try {
    const rows = await db
      .selectFrom("nightwriter.partition_term")
      .select(["partition", "fencing_token", "nonce"])
      .where("job_id", "=", job.id)
      .where("partition", "<", (eb) =>
        eb.selectFrom("nightwriter.job").select("partition_count").where("id", "=", job.id),
      )
      .orderBy("partition")
      .execute();
    return rows.map((row) => ({ partition: row.partition, fencingToken: row.fencing_token, nonce: row.nonce }));
  } catch (error) {
    throw sqlFault(error);
  }
}
