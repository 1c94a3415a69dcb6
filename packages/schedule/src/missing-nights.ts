import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { sql } from "kysely";
import { databaseNow } from "./database-now.ts";
import { expectedNights } from "./night.ts";

/** Which nights are looked at. */
export interface MissingNightsOptions {
  /** Those that were due by then. Default: by the database's clock. */
  readonly now?: Temporal.Instant | undefined;
  /** How far back to look from there, in days of 24 hours. Default: to the job's first night. */
  readonly days?: number | undefined;
}

/**
 * The business dates, ascending, whose night should exist by now and does not, or was never planned; none of a job that nobody has
 * made yet. Not among them: nights that were due before the job was registered, closed dates, and nights that an operator cancelled. Throws SqlFault.
 */
export async function missingNights(
  database: Database,
  job: Job,
  options: MissingNightsOptions = {},
): Promise<Temporal.PlainDate[]> {
  const now = options.now ?? (await databaseNow(database));
  const { db } = database;
  try {
    const row = await db
      .selectFrom("nightwriter.job")
      .select(["created_at", "closed_through"])
      .where("id", "=", job.id)
      .executeTakeFirst();
    if (row === undefined) return [];
    const expected = expectedNights(job, earliest(row.created_at.toTemporalInstant(), now, options.days), now);
    const missing = await db
      .selectFrom(
        sql<{ business_date: string }>`unnest(${expected.map(String)}::date[])`.as<"it">(sql`it(business_date)`),
      )
      .select("it.business_date")
      .$if(row.closed_through !== null, (open) => open.where("it.business_date", ">", row.closed_through ?? ""))
      .except(
        db
          .selectFrom("nightwriter.run")
          .select("business_date")
          .where("job_id", "=", job.id)
          .where("kind", "=", "nightly")
          .where((eb) => eb.or([eb("planned_at", "is not", null), eb("cancelled_at", "is not", null)])),
      )
      .orderBy("business_date")
      .execute();
    return missing.map((each) => Temporal.PlainDate.from(each.business_date));
  } catch (error) {
    throw sqlFault(error);
  }
}

/** Nights that were due before are not looked at: the later of when the job was registered and of how far back to look. */
function earliest(registered: Temporal.Instant, now: Temporal.Instant, days: number | undefined): Temporal.Instant {
  if (days === undefined) return registered;
  const lookedBack = now.subtract({ hours: days * 24 });
  return Temporal.Instant.compare(lookedBack, registered) > 0 ? lookedBack : registered;
}
