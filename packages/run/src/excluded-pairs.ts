/** What a plan leaves out, pair by pair, with the item that is the reason: whose run it is, and whether that was cancelled. */
import type { Schema } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Expression, type Kysely, sql } from "kysely";
import type { Pair } from "./touched-pairs.ts";
import { itemsWithoutEntry, unappliedItems } from "./unapplied-items.ts";

export interface ExcludedPair extends Pair {
  readonly run_id: bigint;
  readonly status: "due" | "parked" | "cancelled";
  /** Of the item's run. */
  readonly is_cancelled: boolean;
}

/** Items that other runs of the job have still to apply, or would have, had they not been cancelled. */
export function dueElsewhere(db: Kysely<Schema>, job: Job, runId: bigint): Expression<ExcludedPair> {
  return db
    .selectFrom("nightwriter.run as other")
    .innerJoinLateral(
      () =>
        unappliedItems(db, job)
          .select(["it.key", "it.business_date", "it.status"])
          .whereRef("it.run_id", "=", sql.ref("other.id"))
          // Kept apart from the join, so that entries are looked up for the items of these runs only.
          .offset(0)
          .as("due"),
      (join) => join.onTrue(),
    )
    .select([
      "due.key",
      "due.business_date",
      "other.id as run_id",
      "due.status",
      sql<boolean>`other.cancelled_at is not null`.as("is_cancelled"),
    ])
    .where("other.job_id", "=", job.id)
    .where("other.id", "<>", runId)
    .where((eb) => eb.or([eb("other.finished_at", "is", null), eb("other.cancelled_at", "is not", null)]));
}

/**
 * What was parked or cancelled in any run of the job before it was applied: only an explicit verb brings it back. One that has
 * its entry has nothing left to withdraw, and its pair goes on.
 */
export function withdrawn(db: Kysely<Schema>, job: Job): Expression<ExcludedPair> {
  return itemsWithoutEntry(db, job)
    .innerJoin("nightwriter.run as its", "its.id", "it.run_id")
    .select([
      "it.key",
      "it.business_date",
      "it.run_id",
      "it.status",
      sql<boolean>`its.cancelled_at is not null`.as("is_cancelled"),
    ])
    .where("it.status", "<>", "due")
    .where("its.job_id", "=", job.id);
}
