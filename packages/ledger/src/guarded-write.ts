/**
 * The write: one statement that adds each item's delta to its key's total and records it, or leaves it alone.
 *
 * Everything that protects a total is in here. Under READ COMMITTED a statement reads one snapshot, but a row it locks
 * is the newest one. So whatever is decided on is read twice, without a lock (from the snapshot that the sums come
 * from) and with one, and counts only where both agree:
 *
 *   gate   the gates of the runs, passed; item, term and live ask it, so that no plan can lock a row before it: whoever
 *          waits there holds nothing that a park or a raise waits for. The snapshot is older than that wait.
 *   item   what is asked for, at most one item per key, of dates that are open
 *   term   the partition's term, locked, if it is still mine, and the job's source query is still the one I sum. Whoever
 *          takes the partition over updates that row: it waits for a write in flight, and shuts the next one out.
 *   seen   the runs' revisions in the snapshot, materialized: looked up once and not for each item
 *   live   the same rows locked, in id order, if not cancelled and their revision is the one seen: cancel, park and
 *          pause bump it, so after such a verb returns nothing of it is applied any more.
 *   base   the keys' versions in the snapshot, without items that are not due and keys that are paused
 *   lck    the same rows locked, in key order, so that two batches cannot deadlock
 *   delta  source sums minus entry sums, in the snapshot, without items that have an entry: nothing is summed for these,
 *          so that data which came since cannot break the batch of a second delivery
 *   upd    moves a total only where row, lock and base agree on the version, and the row's token is not above mine
 *   ent    a plain insert: a duplicate that the snapshot could not see breaks the whole statement instead of being
 *          swallowed, so no entry is ever committed without its total, nor a total without its entry
 *
 * Lookups are lateral with a limit: statistics know nothing of tonight's run, and a plan that hashed the ledger would
 * read all of it for every batch.
 */
import { parameter, type Schema, type Statement, statement } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Expression, type QueryCreator, type RawBuilder, sql } from "kysely";
import { type GivenItems, given } from "./given-items.ts";
import { passGates } from "./run-gate.ts";

/** Distinct keys, all of one partition. */
export interface GuardedWriteValues extends GivenItems {
  /** The distinct ones of `runIds`, ascending. */
  readonly runs: readonly bigint[];
  readonly partition: number;
  readonly fencingToken: bigint;
  readonly nonce: string;
  readonly worker: string;
}

/** An entry as it was inserted. */
export interface WrittenRow {
  run_id: bigint;
  key: string;
  delta_minor: bigint;
  source_count: bigint;
  total_after: bigint;
  version_after: bigint;
}

/** The statement for one job, built once. Run it in autocommit at READ COMMITTED: it is correct in no other setting. */
// oxlint-disable-next-line max-lines-per-function -- one statement, read from top to bottom; cut in pieces it could not be judged
export function guardedWrite(db: QueryCreator<Schema>, job: Job): Statement<GuardedWriteValues, WrittenRow> {
  const runs = parameter<bigint[]>("runs", "bigint[]");
  const partition = parameter<number>("partition", "integer");
  const fencingToken = parameter<bigint>("fencingToken", "bigint");
  const query = db
    .with(
      (cte) => cte("gate").materialized(),
      (cte) => cte.selectNoFrom(passGates(runs).as("count")),
    )
    .with("item", (cte) =>
      cte
        .selectFrom(given)
        .selectAll()
        .where(hasPassed)
        .where("business_date", ">", cte.selectFrom("nightwriter.job").select(openAfter).where("id", "=", job.id)),
    )
    .with("term", (cte) =>
      cte
        .selectFrom("nightwriter.partition_term")
        .select("fencing_token")
        .where("job_id", "=", job.id)
        .where("partition", "=", partition)
        .where("fencing_token", "=", fencingToken)
        .where("nonce", "=", parameter<string>("nonce", "uuid"))
        .where(hasPassed)
        .where((eb) =>
          eb.exists(
            cte
              .selectFrom("nightwriter.job")
              .select("id")
              .where("id", "=", job.id)
              .where("query_version", "=", job.queryVersion),
          ),
        )
        .forShare(),
    )
    .with(
      (cte) => cte("seen").materialized(),
      (cte) => cte.selectFrom("nightwriter.run").select(["id", "revision"]).where("id", "=", sql<bigint>`any(${runs})`),
    )
    .with("live", (cte) =>
      cte
        .selectFrom("nightwriter.run")
        .select(["id", "revision"])
        .where("id", "=", sql<bigint>`any(${runs})`)
        .where("job_id", "=", job.id)
        .where("cancelled_at", "is", null)
        .where(hasPassed)
        .orderBy("id")
        .forShare(),
    )
    .with("base", (cte) =>
      cte
        .selectFrom("item")
        .innerJoinLateral(
          (eb) =>
            eb
              .selectFrom("nightwriter.run_item as it")
              .select("it.status")
              .whereRef("it.run_id", "=", "item.run_id")
              .whereRef("it.business_date", "=", "item.business_date")
              .whereRef("it.key", "=", "item.key")
              .where("it.partition", "=", partition)
              .where("it.status", "=", "due")
              .limit(1)
              .as("due"),
          (join) => join.onTrue(),
        )
        .innerJoinLateral(
          (eb) =>
            eb
              .selectFrom("nightwriter.key_total as it")
              .select("it.version")
              .where("it.job_id", "=", job.id)
              .whereRef("it.key", "=", "item.key")
              .where("it.paused_at", "is", null)
              .limit(1)
              .as("plain"),
          (join) => join.onTrue(),
        )
        .select(["item.run_id", "item.key", "item.business_date", "plain.version"])
        .orderBy("item.key"),
    )
    .with("lck", (cte) =>
      cte
        .selectFrom("base")
        .innerJoinLateral(
          (eb) =>
            eb
              .selectFrom("nightwriter.key_total as it")
              .select("it.version")
              .where("it.job_id", "=", job.id)
              .whereRef("it.key", "=", "base.key")
              .where("it.paused_at", "is", null)
              .limit(1)
              .forNoKeyUpdate()
              .as("locked"),
          (join) => join.onTrue(),
        )
        .selectAll("base")
        .select("locked.version as locked_version"),
    )
    .with("delta", (cte) =>
      cte
        .selectFrom("lck")
        .innerJoinLateral(
          (eb) =>
            eb
              .selectFrom("nightwriter.ledger_entry as it")
              .select((each) => [
                total(each.ref("it.delta_minor")).as("minor"),
                sql<boolean>`coalesce(bool_or(it.run_id = lck.run_id), false)`.as("is_applied"),
              ])
              .where("it.job_id", "=", job.id)
              .whereRef("it.key", "=", "lck.key")
              .whereRef("it.business_date", "=", "lck.business_date")
              .as("entered"),
          (join) => join.onTrue(),
        )
        .innerJoinLateral(
          (eb) =>
            eb
              .selectFrom(job.definition.source.rows(db).as("it"))
              .select((each) => [
                total(each.ref("it.amount_minor")).as("minor"),
                each.fn.countAll<bigint>().as("count"),
              ])
              .whereRef("it.key", "=", "lck.key")
              .whereRef("it.business_date", "=", "lck.business_date")
              .where(sql<boolean>`not entered.is_applied`)
              .as("source"),
          (join) => join.onTrue(),
        )
        .where(sql<boolean>`not entered.is_applied`)
        .selectAll("lck")
        .select((eb) => [
          eb("source.minor", "-", eb.ref("entered.minor")).as("delta_minor"),
          "source.count as source_count",
        ]),
    )
    .with("upd", (cte) =>
      cte
        .updateTable("nightwriter.key_total as it")
        .from("delta")
        .innerJoin("live", "live.id", "delta.run_id")
        .innerJoin("seen", (join) => join.onRef("seen.id", "=", "live.id").onRef("seen.revision", "=", "live.revision"))
        .innerJoin("term", (join) => join.onTrue())
        .set((eb) => ({
          total_minor: eb("it.total_minor", "+", eb.ref("delta.delta_minor")),
          version: eb("it.version", "+", sql<bigint>`1`),
          fencing_token: eb.ref("term.fencing_token"),
        }))
        .where("it.job_id", "=", job.id)
        .whereRef("it.key", "=", "delta.key")
        .whereRef("it.version", "=", "delta.version")
        .whereRef("delta.locked_version", "=", "delta.version")
        .whereRef("it.fencing_token", "<=", "term.fencing_token")
        .returning([
          sql<number>`${job.id}::integer`.as("job_id"),
          "delta.run_id",
          "delta.key",
          "delta.business_date",
          "delta.delta_minor",
          "delta.source_count",
          // The writer's own and not the row's: where the fence is gone, the entry says under which term it was written.
          fencingToken.as("fencing_token"),
          "it.version as version_after",
          "it.total_minor as total_after",
          db.selectNoFrom(sql<string>`pg_current_snapshot()`.as("snapshot")).as("source_snapshot"),
          db.selectNoFrom(sql<number>`nightwriter.current_epoch()`.as("epoch")).as("epoch"),
          parameter<string>("worker", "text").as("worker"),
          sql<number>`${job.queryVersion}::integer`.as("query_version"),
        ]),
    )
    .with("ent", (cte) =>
      cte
        .insertInto("nightwriter.ledger_entry")
        .columns(entryColumns)
        .expression((eb) => eb.selectFrom("upd").select(entryColumns))
        .returning(["run_id", "key", "delta_minor", "source_count", "total_after", "version_after"]),
    )
    .selectFrom("ent")
    .selectAll();
  return statement(query);
}

/** True, once all gates are passed: what asks it comes after them, in whatever order the rest is planned. */
const hasPassed = sql<boolean>`(select "count" from "gate") >= 0`;

/** The last closed date; every date is after it when none is closed. */
const openAfter = sql<string>`coalesce(closed_through, '-infinity')`.as("date");

const entryColumns = [
  "job_id",
  "run_id",
  "key",
  "business_date",
  "delta_minor",
  "source_count",
  "fencing_token",
  "version_after",
  "total_after",
  "source_snapshot",
  "epoch",
  "worker",
  "query_version",
] as const;

/** A sum of bigints is a numeric; back to bigint, 0 for no rows. One that no bigint holds is the key's own error, 22003. */
function total(column: Expression<bigint>): RawBuilder<bigint> {
  return sql`coalesce(sum(${column}), 0)::bigint`;
}
