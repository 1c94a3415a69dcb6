import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { endsAt } from "@nightwriter/schedule";

/** A night that was planned before its business date was over, and that nothing has made good since. */
export interface EarlyNight {
  readonly businessDate: Temporal.PlainDate;
  readonly plannedAt: Temporal.Instant;
  /** When the date is, or was, over: from then on a rerun of it adds what the night missed. */
  readonly endsAt: Temporal.Instant;
}

interface PlannedRow {
  readonly business_date: string;
  readonly kind: string;
  readonly planned_at: Date | null;
}

/**
 * The nights that were planned too early, by an earlier build or by a database whose clock was ahead. What is sold after such a plan
 * is added by a rerun of the date, or by the next night of a later date, planned once the date is over: after either it is not among
 * them any more. Throws SqlFault.
 */
export async function earlyNights({ db }: Pick<Database, "db">, job: Job): Promise<EarlyNight[]> {
  const rows = await db
    .selectFrom("nightwriter.run")
    .select(["business_date", "kind", "planned_at"])
    .where("job_id", "=", job.id)
    .where("planned_at", "is not", null)
    .where("cancelled_at", "is", null)
    // A run of named keys makes nothing good for the others.
    .where("request_digest", "is", null)
    .where("kind", "in", ["nightly", "rerun", "backfill"])
    .orderBy("business_date")
    .execute()
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  const candidates = rows.filter((row) => row.kind === "nightly").flatMap((row) => earlyOf(job, row));
  return candidates.filter((night) => !rows.some((row) => makesGood(row, night)));
}

function earlyOf(job: Job, { business_date, planned_at }: PlannedRow): EarlyNight[] {
  if (planned_at === null) return [];
  const businessDate = Temporal.PlainDate.from(business_date);
  const over = endsAt(job, businessDate);
  const plannedAt = planned_at.toTemporalInstant();
  return Temporal.Instant.compare(plannedAt, over) < 0 ? [{ businessDate, plannedAt, endsAt: over }] : [];
}

function makesGood({ kind, business_date, planned_at }: PlannedRow, night: EarlyNight): boolean {
  if (planned_at === null || planned_at.getTime() < night.endsAt.epochMilliseconds) return false;
  const date = night.businessDate.toString();
  return kind === "nightly" ? business_date > date : business_date === date;
}
