/** The restaurant that the story is about. */
import { invariant } from "@nightwriter/core";
import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";

export const RESTAURANT = "77";

/** What the total is now, in minor units. Throws SqlFault. */
export async function readTotal({ db }: Database, job: Job): Promise<bigint> {
  try {
    const row = await db
      .selectFrom("nightwriter.key_total")
      .select("total_minor")
      .where("job_id", "=", job.id)
      .where("key", "=", RESTAURANT)
      .executeTakeFirst();
    invariant(row !== undefined, "the restaurant was opened before the story begins");
    return row.total_minor;
  } catch (error) {
    throw sqlFault(error);
  }
}

/** What it should be, by what was recorded and nothing else, in minor units. Throws SqlFault. */
export async function readTruth({ db }: Database, job: Job): Promise<bigint> {
  try {
    const row = await db
      .selectFrom(job.definition.source.rows(db).as("source"))
      .select((eb) => eb.fn.sum<bigint | string>("source.amount_minor").as("minor"))
      .where("source.key", "=", RESTAURANT)
      .executeTakeFirstOrThrow();
    return BigInt(row.minor);
  } catch (error) {
    throw sqlFault(error);
  }
}

/** How many entries there are besides the opening. Throws SqlFault. */
export async function countEntries({ db }: Database, job: Job): Promise<number> {
  try {
    const row = await db
      .selectFrom("nightwriter.ledger_entry")
      .select((eb) => eb.fn.countAll<bigint>().as("count"))
      .where("job_id", "=", job.id)
      .where("key", "=", RESTAURANT)
      .executeTakeFirstOrThrow();
    return Number(row.count) - 1;
  } catch (error) {
    throw sqlFault(error);
  }
}
