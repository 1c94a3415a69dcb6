import type { Clock } from "@nightwriter/core";
import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { sql } from "kysely";
import { expectedNights } from "./night.ts";

/** Which nights are looked at: those that fell due in the last `days` days before the clock's now. */
export interface MissingNightsOptions {
  readonly clock: Clock;
  /** How far back to look, in days of 24 hours. */
  readonly days: number;
}

/**
 * The business dates, ascending, whose night should exist by now and does not, or was never planned. Not among them: nights
 * that were due before the job was registered, closed dates, and nights that an operator cancelled. Throws SqlFault.
 */
export async function missingNights(
  { db }: Database,
  job: Job,
  { clock, days }: MissingNightsOptions,
): Promise<Temporal.PlainDate[]> {
  try {
    const row = await db
      .selectFrom("nightwriter.job")
      .select(["created_at", "closed_through"])
      .where("id", "=", job.id)
      .executeTakeFirstOrThrow();
    const now = clock.now();
    const lookedBack = now.subtract({ hours: days * 24 });
    const registered = row.created_at.toTemporalInstant();
    const from = Temporal.Instant.compare(lookedBack, registered) > 0 ? lookedBack : registered;
    const expected = expectedNights(job, from, now).map(String);
    const missing = await db
      .selectFrom(sql<{ business_date: string }>`unnest(${expected}::date[])`.as<"it">(sql`it(business_date)`))
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
