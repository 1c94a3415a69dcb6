/** Making what is missing of a job: its row, and the first term of each partition. */
import { invariant } from "@nightwriter/core";
import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import { sql, type Transaction } from "kysely";
import type { JobDefinition } from "./job-definition.ts";
import { type Job, readJob } from "./job-store.ts";

/**
 * The job, whose row and terms are there afterwards. Nothing that was there is changed, least of all the query version: whoever
 * plans calls it, from any checkout, and asks {@link assertCurrent} where the query matters. Idempotent, also when many
 * processes start at once. Throws SqlFault.
 */
export async function ensureJob({ db }: Database, definition: JobDefinition): Promise<Job> {
  try {
    return await db.transaction().execute((transaction) => makeMissing(transaction, definition));
  } catch (error) {
    throw sqlFault(error);
  }
}

/** {@link ensureJob} in a transaction; it locks the row only if something was missing. Throws the driver's error. */
export async function makeMissing(db: Transaction<Schema>, definition: JobDefinition): Promise<Job> {
  if (!(await isWhole(db, definition.name))) {
    const { name, partitionCount, queryVersion } = definition;
    await db
      .insertInto("nightwriter.job")
      .values({ name, partition_count: partitionCount, query_version: queryVersion })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    await ensureTerms(db, await lockJob(db, definition));
  }
  return readMade(db, definition);
}

/**
 * The job that is there, whose row nobody else changes until the transaction ends: the partition count stays while terms are made
 * for it, and the query version while a build decides on it. A shared lock would not do: two that share the row
 * and both want to change it wait for each other. Throws the driver's error.
 */
export async function lockJob(db: Transaction<Schema>, definition: JobDefinition): Promise<Job> {
  await db
    .selectFrom("nightwriter.job")
    .select("id")
    .where("name", "=", definition.name)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return readMade(db, definition);
}

async function readMade(db: Transaction<Schema>, definition: JobDefinition): Promise<Job> {
  const job = await readJob(db, definition);
  invariant(job !== undefined, `job ${definition.name}: its row is there without a version`);
  return job;
}

/** Whether the row and all its terms are there: then nothing needs to be locked, nor any right to write. */
async function isWhole(db: Transaction<Schema>, name: string): Promise<boolean> {
  const row = await db
    .selectFrom("nightwriter.job as it")
    .leftJoin("nightwriter.partition_term as term", (join) =>
      join.onRef("term.job_id", "=", "it.id").onRef("term.partition", "<", "it.partition_count"),
    )
    .select((eb) => ["it.partition_count", eb.fn.count<bigint>("term.partition").as("terms")])
    .where("it.name", "=", name)
    .groupBy("it.id")
    .executeTakeFirst();
  return row !== undefined && Number(row.terms) === row.partition_count;
}

/** A term that nobody holds for each partition that has none. */
async function ensureTerms(db: Transaction<Schema>, { id, partitionCount }: Job): Promise<void> {
  await db
    .insertInto("nightwriter.partition_term")
    .columns(["job_id", "partition", "fencing_token", "holder"])
    .expression((eb) =>
      eb
        .selectFrom(sql<{ partition: number }>`generate_series(0, ${partitionCount}::int - 1)`.as("partition"))
        .select(() => [
          sql`${id}::int`.as("job_id"),
          sql`partition`.as("partition"),
          sql`1`.as("fencing_token"),
          sql`'nobody'`.as("holder"),
        ]),
    )
    .onConflict((conflict) => conflict.columns(["job_id", "partition"]).doNothing())
    .execute();
}
