import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { planning } from "./planning.ts";
import { type Run, runColumns, runOf } from "./run.ts";
import { unappliedItems } from "./unapplied-items.ts";

/**
 * Marks as finished the planned runs of which every item is applied, parked or cancelled by now, and returns them. A paused key
 * keeps its run unfinished. Under the planning lock, so that no planner adds an item between the look and the mark.
 *
 * Whoever revives an item of a finished run must take `finished_at` back in the same transaction.
 *
 * Throws SqlFault.
 */
export async function finishRuns(database: Database, job: Job): Promise<Run[]> {
  return planning(database, job, async ({ db }) => {
    const unfinished = await db
      .selectFrom("nightwriter.run")
      .select("id")
      .where("job_id", "=", job.id)
      .where("finished_at", "is", null)
      .where("cancelled_at", "is", null)
      .where("planned_at", "is not", null)
      .orderBy("id")
      .execute();
    const finished: Run[] = [];
    for (const { id } of unfinished) {
      // One run at a time: in a statement over all of them, the limit would be lost in a join planned by statistics.
      const left = await unappliedItems(db, job)
        .select("it.key")
        .where("it.run_id", "=", id)
        .limit(1)
        .executeTakeFirst();
      if (left !== undefined) continue;
      const row = await db
        .updateTable("nightwriter.run")
        .set((eb) => ({ finished_at: eb.fn<Date>("clock_timestamp") }))
        .where("id", "=", id)
        .where("cancelled_at", "is", null)
        .returning(runColumns)
        .executeTakeFirst();
      if (row !== undefined) finished.push(runOf(row));
    }
    return finished;
  });
}
