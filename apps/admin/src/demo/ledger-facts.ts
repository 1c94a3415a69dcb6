/** What the demo reads off the ledger, to decide when to strike and to compare with what was sold. */
import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";

/** How many items each worker has applied so far. */
export async function appliedByWorker({ db }: Database, job: Job): Promise<Map<string, number>> {
  try {
    const rows = await db
      .selectFrom("nightwriter.ledger_entry")
      .select((eb) => ["worker", eb.fn.countAll<bigint>().as("count")])
      .where("job_id", "=", job.id)
      .groupBy("worker")
      .execute();
    return new Map(rows.map(({ worker, count }) => [worker, Number(count)]));
  } catch (error) {
    throw sqlFault(error);
  }
}

/** The first restaurants of the run that have their entry. */
export async function firstApplied({ db }: Database, runId: bigint, limit: number): Promise<string[]> {
  try {
    const rows = await db
      .selectFrom("nightwriter.ledger_entry")
      .select("key")
      .where("run_id", "=", runId)
      .orderBy("applied_at")
      .orderBy("key")
      .limit(limit)
      .execute();
    return rows.map(({ key }) => key);
  } catch (error) {
    throw sqlFault(error);
  }
}

/** How many entries of the run changed a total. */
export async function changedCount({ db }: Database, runId: bigint): Promise<number> {
  try {
    const row = await db
      .selectFrom("nightwriter.ledger_entry")
      .select((eb) => eb.fn.countAll<bigint>().as("count"))
      .where("run_id", "=", runId)
      .where("delta_minor", "<>", 0n)
      .executeTakeFirstOrThrow();
    return Number(row.count);
  } catch (error) {
    throw sqlFault(error);
  }
}

/** Every total, in minor units. */
export async function totals({ db }: Database, job: Job): Promise<Map<string, bigint>> {
  try {
    const rows = await db
      .selectFrom("nightwriter.key_total")
      .select(["key", "total_minor"])
      .where("job_id", "=", job.id)
      .execute();
    return new Map(rows.map((row) => [row.key, row.total_minor]));
  } catch (error) {
    throw sqlFault(error);
  }
}
