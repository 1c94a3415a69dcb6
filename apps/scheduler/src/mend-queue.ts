import { finishRuns, reconcile } from "@nightwriter/run";
import type { Duty } from "./duty.ts";

/** Marks finished runs as such, and puts back into the queue what is due and not worked at. Says so where there was something. */
export async function mendQueue({ job, database, queues, logger }: Duty): Promise<void> {
  for (const run of await finishRuns(database, job)) {
    logger.info({ run: run.id, kind: run.kind, businessDate: run.businessDate.toString() }, "run finished");
  }
  const { due, lookedAt, missing, renewed } = await reconcile({ database, job, queues });
  if (missing + renewed > 0) logger.warn({ due, lookedAt, missing, renewed }, "queue mended");
}
