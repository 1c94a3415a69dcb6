import type { Schema } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import type { Kysely, SelectQueryBuilder } from "kysely";

/** A query of rows of run_item, called `it`. */
export type ItemQuery = SelectQueryBuilder<Schema & { it: Schema["nightwriter.run_item"] }, "it", object>;

/**
 * Items that have no entry, whatever their status; to be narrowed to some by the caller.
 *
 * Each item's entry is looked up by itself, as a scalar: a join would be planned by statistics that do not know
 * tonight's run, and can come out quadratic.
 */
export function itemsWithoutEntry(db: Kysely<Schema>, job: Job): ItemQuery {
  return db
    .selectFrom("nightwriter.run_item as it")
    .where((eb) =>
      eb(
        eb
          .selectFrom("nightwriter.ledger_entry as entry")
          .select("entry.version_after")
          .where("entry.job_id", "=", job.id)
          .whereRef("entry.key", "=", "it.key")
          .whereRef("entry.business_date", "=", "it.business_date")
          .whereRef("entry.run_id", "=", "it.run_id")
          .limit(1),
        "is",
        null,
      ),
    );
}

/** The ones among them that were not withdrawn, paused ones included; to be narrowed to some runs by the caller. */
export function unappliedItems(db: Kysely<Schema>, job: Job): ItemQuery {
  return itemsWithoutEntry(db, job).where("it.status", "=", "due");
}

/** The ones among them whose key is not paused: what is due. */
export function dueItemsQuery(db: Kysely<Schema>, job: Job): ItemQuery {
  return unappliedItems(db, job).where((eb) =>
    eb(
      eb
        .selectFrom("nightwriter.key_total as total")
        .select("total.paused_at")
        .where("total.job_id", "=", job.id)
        .whereRef("total.key", "=", "it.key")
        .limit(1),
      "is",
      null,
    ),
  );
}
