/** How the nights of a job stand, of whatever age, by the database's clock. It changes nothing, and needs no more than to select. */
import { type Database, sqlFault } from "@nightwriter/database";
import {
  findSchedulers,
  liveWorkers,
  type SchedulerSight,
  schedulerStaleMs,
  type WorkerIdentity,
} from "@nightwriter/fleet";
import type { Job } from "@nightwriter/job";
import { type RunStatus, runStatus } from "@nightwriter/run";
import { databaseNow, missingNights } from "@nightwriter/schedule";
import { type EarlyNight, earlyNights } from "./early-nights.ts";
import { type OverdueReason, overdueReason } from "./overdue.ts";
import { type ParkedEver, parkedEver } from "./parked-ever.ts";

/** How the nights of a job stand, at one instant. */
export interface NightsLook {
  /** The database's clock, asked once for all of it. */
  readonly now: Temporal.Instant;
  /** Business dates, ascending, whose night should exist and does not; also those that the catch-up looks at no more. */
  readonly missing: readonly Temporal.PlainDate[];
  readonly early: readonly EarlyNight[];
  /** Runs that should be finished by now. */
  readonly overdue: readonly { readonly status: RunStatus; readonly reason: OverdueReason }[];
  readonly parked: ParkedEver;
  /** Items due in all runs. */
  readonly due: number;
  readonly schedulers: readonly SchedulerSight[];
  /** Those that were heard of within half a minute. */
  readonly workers: readonly WorkerIdentity[];
  /** Whether a worker was heard of in the last week or so. */
  readonly hadWorkers: boolean;
}

/** How to look. */
export interface NightsOptions {
  /** Default: the database's. Another is for tests. */
  readonly now?: Temporal.Instant | undefined;
  /** Of parked items, how many are listed at most. Default: 20. */
  readonly parkedLimit?: number;
}

/** Looks once. A job that nobody has made yet has no nights. Throws SqlFault. */
export async function lookAtNights(database: Database, job: Job, options: NightsOptions = {}): Promise<NightsLook> {
  const now = options.now ?? (await databaseNow(database));
  const unfinished = await unfinishedRuns(database, job);
  return {
    now,
    missing: await missingNights(database, job, { now }),
    early: await earlyNights(database, job),
    overdue: unfinished.flatMap((status) => {
      const reason = overdueReason(job, status, now);
      return reason === undefined ? [] : [{ status, reason }];
    }),
    parked: await parkedEver(database, job, options.parkedLimit ?? 20),
    due: unfinished.reduce((sum, { due }) => sum + due, 0),
    schedulers: await findSchedulers(database),
    workers: await liveWorkers(database, schedulerStaleMs),
    hadWorkers: await hasWorkerRows(database),
  };
}

async function unfinishedRuns(database: Database, job: Job): Promise<RunStatus[]> {
  const rows = await database.db
    .selectFrom("nightwriter.run")
    .select("id")
    .where("job_id", "=", job.id)
    .where("finished_at", "is", null)
    .where("cancelled_at", "is", null)
    .orderBy("id")
    .execute()
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  const statuses: RunStatus[] = [];
  for (const { id } of rows) statuses.push(...(await runStatus(database, job, { runId: id, parkedLimit: 0 })));
  return statuses;
}

async function hasWorkerRows({ db }: Database): Promise<boolean> {
  const found = await db
    .selectFrom("nightwriter.worker")
    .select("name")
    .limit(1)
    .execute()
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  return found.length > 0;
}
