/**
 * Why items were not applied: a new statement, so that it sees what the write could not.
 *
 * A write that changed nothing says nothing of the reason. In particular it must not be read as "duplicate": an entry
 * that was committed while the write waited for a lock is invisible to it.
 */
import { parameter, type Schema, type Statement, statement } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type QueryCreator, type RawBuilder, sql } from "kysely";
import { type GivenItems, given } from "./given-items.ts";

export interface ExplanationValues extends GivenItems {
  readonly partition: number;
}

/** What stands in the tables about one item now. Nulls: there is no such row. */
export interface ExplanationRow {
  run_id: bigint;
  key: string;
  business_date: string;
  entry_version: bigint | null;
  status: "due" | "parked" | "cancelled" | null;
  cancelled_at: Date | null;
  revision: bigint | null;
  paused_at: Date | null;
  version: bigint | null;
  /** Rises with each pause and resumption of the key. */
  key_revision: bigint | null;
  row_token: bigint | null;
  term_token: bigint | null;
  nonce: string | null;
  /** The last token that the job has handed out. */
  counter: bigint;
  /** The greatest token of the job's terms. */
  greatest_term: bigint | null;
  /** Whether the key's ledger has an entry with the version that comes after its row's. */
  is_behind: boolean;
  /** Of the item: null if there is none. */
  partition: number | null;
  is_closed: boolean;
  query_version: number;
  /** Which transactions wrote the rows of job, run, item and term as they are now. */
  written_by: string;
}

/** The statement for one job, built once; a row for each item, in no order. */
export function explanation(db: QueryCreator<Schema>, job: Job): Statement<ExplanationValues, ExplanationRow> {
  return statement(
    db
      .selectFrom(given)
      .innerJoin("nightwriter.job as job", (join) => join.on("job.id", "=", job.id))
      .leftJoin("nightwriter.run as run", (join) =>
        join.onRef("run.id", "=", "given.run_id").on("run.job_id", "=", job.id),
      )
      .leftJoin("nightwriter.run_item as item", (join) =>
        join
          .onRef("item.run_id", "=", "given.run_id")
          .onRef("item.business_date", "=", "given.business_date")
          .onRef("item.key", "=", "given.key"),
      )
      .leftJoin("nightwriter.key_total as total", (join) =>
        join.on("total.job_id", "=", job.id).onRef("total.key", "=", "given.key"),
      )
      .leftJoin("nightwriter.partition_term as term", (join) =>
        join.on("term.job_id", "=", job.id).on("term.partition", "=", parameter<number>("partition", "integer")),
      )
      .leftJoinLateral(
        (eb) =>
          eb
            .selectFrom("nightwriter.ledger_entry as it")
            .select("it.version_after")
            .where("it.job_id", "=", job.id)
            .whereRef("it.key", "=", "given.key")
            .whereRef("it.business_date", "=", "given.business_date")
            .whereRef("it.run_id", "=", "given.run_id")
            .limit(1)
            .as("entry"),
        (join) => join.onTrue(),
      )
      .leftJoinLateral(
        (eb) =>
          eb
            .selectFrom("nightwriter.ledger_entry as it")
            .select("it.version_after")
            .where("it.job_id", "=", job.id)
            .where("it.version_after", "=", sql<bigint>`total.version + 1`)
            .whereRef("it.key", "=", "given.key")
            .limit(1)
            .as("ahead"),
        (join) => join.onTrue(),
      )
      .select([
        "given.run_id",
        "given.key",
        "given.business_date",
        "entry.version_after as entry_version",
        "item.status",
        "run.cancelled_at",
        "run.revision",
        "total.paused_at",
        "total.version",
        "total.revision as key_revision",
        "total.fencing_token as row_token",
        "term.fencing_token as term_token",
        "term.nonce",
        "job.fencing_token as counter",
        greatestTerm(db, job).as("greatest_term"),
        sql<boolean>`ahead.version_after is not null`.as("is_behind"),
        "item.partition",
        sql<boolean>`given.business_date <= coalesce(job.closed_through, '-infinity')`.as("is_closed"),
        "job.query_version",
        sql<string>`concat_ws(' ', job.xmin, run.xmin, item.xmin, term.xmin)`.as("written_by"),
      ]),
  );
}

function greatestTerm(db: QueryCreator<Schema>, job: Job): RawBuilder<bigint | null> {
  const terms = db
    .selectFrom("nightwriter.partition_term as each")
    .select((eb) => eb.fn.max("each.fencing_token").as("token"))
    .where("each.job_id", "=", job.id);
  return sql`(${terms})`;
}

/**
 * Whether nothing that a write asks for was touched between two looks: then the write between them found what both saw. Every
 * verb that steers leaves its trace here, also one that was taken back at once: a key counts its writes and its
 * pauses, and of the other rows it is known which transaction wrote them last.
 */
export function isUntouched(before: ExplanationRow, now: ExplanationRow): boolean {
  return (
    before.version === now.version && before.key_revision === now.key_revision && before.written_by === now.written_by
  );
}
