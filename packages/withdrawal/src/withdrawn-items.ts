/** Items that are out of their night until a person does something: parked by their own error, or cancelled by name. */
import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Kysely, sql } from "kysely";

/** Which withdrawn items are meant: those that fit everything that is said. Empty: all of the job. */
export interface Selection {
  readonly keys?: readonly string[] | undefined;
  readonly businessDates?: readonly Temporal.PlainDate[] | undefined;
  /** Of the error that parked the item. Items that were parked without one, or cancelled, have none. */
  readonly sqlstates?: readonly string[] | undefined;
}

/** An item that is out of its night, as it stands. */
export interface WithdrawnItem {
  readonly runId: bigint;
  /** `YYYY-MM-DD` */
  readonly businessDate: string;
  readonly key: string;
  readonly status: "parked" | "cancelled";
  /** Undefined: it was not an error of the database, or nobody recorded why. */
  readonly sqlstate: string | undefined;
  readonly reason: string | undefined;
  /** When it was parked; undefined where nobody recorded it. */
  readonly attemptedAt: Temporal.Instant | undefined;
}

/** Large enough that a round trip does not count, small enough that memory does not. */
const pageSize = 1_000;

/**
 * The job's withdrawn items, page by page, in order of run, business date and key; those that have an entry are none, whatever
 * their status says. Pages are statements of their own: what is parked meanwhile may or may not be seen. Throws SqlFault.
 */
export async function* withdrawnItems(
  { db }: Database,
  job: Job,
  selection: Selection = {},
): AsyncGenerator<WithdrawnItem[]> {
  let after: PageStart | undefined;
  do {
    const rows = await readPage(db, job, { selection, after });
    if (rows.length > 0) yield rows.map(withdrawnItemOf);
    after = rows.length < pageSize ? undefined : rows.at(-1);
  } while (after !== undefined);
}

type PageStart = Pick<WithdrawnRow, "run_id" | "business_date" | "key">;

async function readPage(
  db: Kysely<Schema>,
  job: Job,
  page: { readonly selection: Selection; readonly after: PageStart | undefined },
): Promise<WithdrawnRow[]> {
  try {
    return await findWithdrawn(db, job, { ...page, limit: pageSize, applied: false });
  } catch (error) {
    throw sqlFault(error);
  }
}

export interface WithdrawnRow {
  run_id: bigint;
  business_date: string;
  key: string;
  status: "due" | "parked" | "cancelled";
  sqlstate: string | null;
  reason: string | null;
  attempted_at: Date | null;
  /** Null: it has no entry. */
  version_after: bigint | null;
}

interface Look {
  readonly selection: Selection;
  /** With those that have an entry. */
  readonly applied: boolean;
  /** The row that this look goes on behind. Default: from the first. */
  readonly after?: PageStart | undefined;
  /** Default: all. */
  readonly limit?: number;
}

/** In order of run, business date and key, each with the last error that parked it. Throws the driver's error. */
export async function findWithdrawn(db: Kysely<Schema>, job: Job, look: Look): Promise<WithdrawnRow[]> {
  const { selection, applied, after, limit } = look;
  const { keys, businessDates, sqlstates } = selection;
  return db
    .selectFrom("nightwriter.run_item as it")
    .innerJoin("nightwriter.run as run", "run.id", "it.run_id")
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom("nightwriter.ledger_entry as own")
          .select("own.version_after")
          .where("own.job_id", "=", job.id)
          .whereRef("own.key", "=", "it.key")
          .whereRef("own.business_date", "=", "it.business_date")
          .whereRef("own.run_id", "=", "it.run_id")
          .limit(1)
          .as("entry"),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom("nightwriter.attempt as parking")
          .select(["parking.sqlstate", "parking.reason", "parking.last_at as attempted_at"])
          .whereRef("parking.run_id", "=", "it.run_id")
          .whereRef("parking.business_date", "=", "it.business_date")
          .whereRef("parking.key", "=", "it.key")
          .where("parking.outcome", "=", "parked")
          .where("it.status", "=", "parked")
          .orderBy("parking.last_at", "desc")
          .limit(1)
          .as("last"),
      (join) => join.onTrue(),
    )
    .select([
      "it.run_id",
      "it.business_date",
      "it.key",
      "it.status",
      "last.sqlstate",
      "last.reason",
      "last.attempted_at",
      "entry.version_after",
    ])
    .where("run.job_id", "=", job.id)
    .where("it.status", "<>", "due")
    .$if(!applied, (query) => query.where("entry.version_after", "is", null))
    .$if(after !== undefined, (query) =>
      query.where((eb) =>
        eb(
          eb.refTuple("it.run_id", "it.business_date", "it.key"),
          ">",
          eb.tuple(after?.run_id ?? 0n, after?.business_date ?? "", after?.key ?? ""),
        ),
      ),
    )
    .$if(keys !== undefined, (query) => query.where("it.key", "=", sql<string>`any(${keys}::text[])`))
    .$if(businessDates !== undefined, (query) =>
      query.where("it.business_date", "=", sql<string>`any(${businessDates?.map(String)}::date[])`),
    )
    .$if(sqlstates !== undefined, (query) => query.where("last.sqlstate", "=", sql<string>`any(${sqlstates}::text[])`))
    .orderBy("it.run_id")
    .orderBy("it.business_date")
    .orderBy("it.key")
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
}

export function withdrawnItemOf(row: WithdrawnRow): WithdrawnItem {
  return {
    runId: row.run_id,
    businessDate: row.business_date,
    key: row.key,
    status: row.status === "cancelled" ? "cancelled" : "parked",
    sqlstate: row.sqlstate ?? undefined,
    reason: row.reason ?? undefined,
    attemptedAt: row.attempted_at?.toTemporalInstant(),
  };
}
