import { enqueueDue, ensureNightlyRun } from "@nightwriter/run";
import type { Duty } from "./duty.ts";

/** Pairs that are named in the log, of those that could not be compared. */
const toldAtMost = 20;

/**
 * Afterwards the night exists, is planned, and what is due of it is in the queue. The hint and the catch-up both call it, in as
 * many schedulers as there are; all but the first find little to do. Killed after the plan, it leaves items that are due and
 * not in the queue, for anybody's reconcile loop to find.
 */
export async function runNight(
  { job, database, planner, queues, logger }: Duty,
  businessDate: Temporal.PlainDate,
): Promise<void> {
  const { run, created, planned, uncompared } = await ensureNightlyRun(planner, job, businessDate);
  const night = { run: run.id, businessDate: businessDate.toString() };
  logger.info({ ...night, created, planned }, "night planned");
  for (const { key, business_date, fault } of uncompared.slice(0, toldAtMost)) {
    const fields = { ...night, key, pairDate: business_date, sqlstate: fault.sqlstate, uncompared: uncompared.length };
    logger.error(
      fields,
      `key ${key} ${business_date}: planned without comparing, ${fault.message}; its write will park it`,
    );
  }
  const enqueued = await enqueueDue({ database, job, queues }, run);
  logger.info({ ...night, enqueued }, "night enqueued");
}
