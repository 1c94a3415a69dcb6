import { databaseNow, missingNights } from "@nightwriter/schedule";
import type { Duty } from "./duty.ts";
import { runNight } from "./run-night.ts";

/**
 * Runs every night that should exist by now and does not, oldest first: after a start, after a clock change that left a tick out,
 * after any time in which nobody was there to hear it. One that cannot be run does not keep the later ones from it; the
 * first error is thrown at the end.
 */
export async function catchUp(duty: Duty): Promise<void> {
  const { planner, job, catchUpDays } = duty;
  const now = await databaseNow(planner);
  const nights = await missingNights(planner, job, { now, days: catchUpDays });
  const errors: unknown[] = [];
  for (const businessDate of nights) {
    duty.logger.info({ businessDate: businessDate.toString() }, "night is missing");
    await runNight(duty, businessDate).catch((error: unknown) => void errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}
