import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type RunStatus, runStatus } from "@nightwriter/run";

export interface LatestRuns {
  /** Of this business date only. */
  readonly date: Temporal.PlainDate | undefined;
  /** Runs at most. */
  readonly limit: number;
}

/** How the job's latest runs stand, newest first. Throws SqlFault. */
export async function latestRuns(database: Database, job: Job, { date, limit }: LatestRuns): Promise<RunStatus[]> {
  const statuses: RunStatus[] = [];
  for (const runId of await latestIds(database, job, { date, limit })) {
    statuses.push(...(await runStatus(database, job, { runId })));
  }
  return statuses;
}

async function latestIds({ db }: Database, job: Job, { date, limit }: LatestRuns): Promise<bigint[]> {
  try {
    const rows = await db
      .selectFrom("nightwriter.run")
      .select("id")
      .where("job_id", "=", job.id)
      .$if(date !== undefined, (query) => query.where("business_date", "=", date?.toString() ?? ""))
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id);
  } catch (error) {
    throw sqlFault(error);
  }
}
