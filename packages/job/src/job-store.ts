/** Jobs as rows: found or made, together with the first term of each partition. */
import { Fault } from "@nightwriter/core";
import { type Database, sqlFault } from "@nightwriter/database";
import { sql } from "kysely";
import type { JobDefinition } from "./job-definition.ts";

/** A definition and the row that stands for it. */
export interface Job {
  readonly id: number;
  readonly definition: JobDefinition;
  /** The stored count when the job was registered, which may differ from the definition's: {@link getPartitionCount} asks again. */
  readonly partitionCount: number;
  /** Business dates up to this one, included, are never planned again. Undefined: none is closed. */
  readonly closedThrough: Temporal.PlainDate | undefined;
}

export type JobFaultCode = "query_version_differs";

/**
 * Finds the job's row or makes it, with a first term (token 1, held by nobody) for each partition. Idempotent, also when
 * many processes start at once. A definition with a higher query version raises the stored one; one with a lower is an
 * old build beside a newer one and is refused. Throws SqlFault or Fault.
 */
export async function registerJob({ db }: Database, definition: JobDefinition): Promise<Job> {
  const { name, partitionCount, queryVersion } = definition;
  try {
    const row = await db.transaction().execute(async (transaction) => {
      await transaction
        .insertInto("nightwriter.job")
        .values({ name, partition_count: partitionCount, query_version: queryVersion, fencing_token: 1 })
        .onConflict((conflict) => conflict.column("name").doNothing())
        .execute();
      const job = await transaction
        .selectFrom("nightwriter.job")
        .selectAll()
        .where("name", "=", name)
        // The partition count stays as it is until the terms are there for it. A shared lock would do, if nobody had to raise
        // the query version: two that share the row and both want to change it wait for each other.
        .forNoKeyUpdate()
        .executeTakeFirstOrThrow();
      await transaction
        .insertInto("nightwriter.partition_term")
        .columns(["job_id", "partition", "fencing_token", "holder"])
        .expression((eb) =>
          eb
            .selectFrom(sql<{ partition: number }>`generate_series(0, ${job.partition_count}::int - 1)`.as("partition"))
            .select(() => [
              sql`${job.id}::int`.as("job_id"),
              sql`partition`.as("partition"),
              sql`1`.as("fencing_token"),
              sql`'nobody'`.as("holder"),
            ]),
        )
        .onConflict((conflict) => conflict.columns(["job_id", "partition"]).doNothing())
        .execute();
      if (job.query_version < queryVersion) {
        await transaction
          .updateTable("nightwriter.job")
          .set({ query_version: queryVersion })
          .where("id", "=", job.id)
          .where("query_version", "<", queryVersion)
          .execute();
      }
      return job;
    });
    assertQueryVersion(Math.max(row.query_version, queryVersion), definition);
    return {
      id: row.id,
      definition,
      partitionCount: row.partition_count,
      closedThrough: row.closed_through === null ? undefined : Temporal.PlainDate.from(row.closed_through),
    };
  } catch (error) {
    throw error instanceof Fault ? error : sqlFault(error);
  }
}

/** The job's partition count now: it changes between nights, while processes run. Throws SqlFault. */
export async function getPartitionCount({ db }: Database, job: Pick<Job, "id">): Promise<number> {
  try {
    const row = await db
      .selectFrom("nightwriter.job")
      .select("partition_count")
      .where("id", "=", job.id)
      .executeTakeFirstOrThrow();
    return row.partition_count;
  } catch (error) {
    throw sqlFault(error);
  }
}

/**
 * Returns if the definition sums what the stored version says. Throws a Fault otherwise: this process must not write any more,
 * since an entry that was summed by another query is wrong without being touched.
 */
export function assertQueryVersion(stored: number, { name, queryVersion }: JobDefinition): void {
  if (stored === queryVersion) return;
  throw new Fault<JobFaultCode>(
    "query_version_differs",
    `job ${name}: this build's query version ${queryVersion} is not the stored ${stored}; deploy the newer build, or restart this one`,
    { details: { job: name, build: queryVersion, stored } },
  );
}
