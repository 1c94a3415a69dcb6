import { finishRuns, reconcile } from "@nightwriter/run";
import type { Duty } from "./duty.ts";

/** Marks runs that are finished, puts back into the queue what is due and not in it, and logs what it found to do. */
export async function mendQueue({ job, database, queues, logger }: Duty): Promise<void> {
  for (const run of await finishRuns(database, job)) {
    logger.info({ run: run.id, kind: run.kind, businessDate: run.businessDate.toString() }, "run finished");
  }
  const { due, lookedAt, missing, renewed } = await reconcile({ database, job, queues });
  if (missing + renewed > 0) logger.warn({ due, lookedAt, missing, renewed }, "queue mended");
}
