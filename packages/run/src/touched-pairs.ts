/**
 * Which (key, business date) pairs were touched since the last plan.
 *
 * The last plan is the *base*: the planned nightly run with the greatest business date. It has considered every source row up to
 * its date that its snapshot saw. So these were touched since:
 *
 * - rows that the snapshot did not see: of a later epoch, or of the same one and invisible in it. Their ids begin at the
 *   snapshot's xmin, which is what the index on (epoch, xid) is asked for;
 * - rows of dates after the base's: nights that never ran;
 * - pairs that some other run had still to apply when the base was planned. The plan left them to that run, whose
 *   statement may have taken its own snapshot before the plan did, and summed without a row that the plan saw.
 *
 * Reading an id or a timestamp watermark instead of a snapshot loses rows whose transaction commits late.
 */
import type { Schema } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";

/** A (key, business date). */
export interface Pair {
  key: string;
  business_date: string;
}

/** The last plan, as far as its successor needs it. */
export interface PlanBase {
  readonly businessDate: string;
  readonly snapshot: string;
  readonly epoch: number;
  /** Runs that were unfinished in the snapshot. */
  readonly overlaps: readonly bigint[];
}

/** Business dates `after` < date < `before`, each `YYYY-MM-DD`; without an end where it is undefined. */
export interface DateRange {
  readonly after: string | undefined;
  readonly before: string | undefined;
}

/** Which pairs are looked at, besides by their dates. */
export interface PairFilter {
  /** Of these keys only. Default: all. */
  readonly keys?: readonly string[];
  /** Not these, whatever is said of them: their rows cannot even be read. */
  readonly except?: readonly Pair[];
}

type Pairs = SelectQueryBuilder<Schema & { it: Pair }, "it", Pair>;

/** The job's last planned night. Undefined: there is none yet, and everything counts as touched. */
export async function findPlanBase(db: Kysely<Schema>, job: Job): Promise<PlanBase | undefined> {
  const row = await db
    .selectFrom("nightwriter.run")
    .select(["business_date", "plan_snapshot", "plan_epoch", "plan_overlaps"])
    .where("job_id", "=", job.id)
    .where("kind", "=", "nightly")
    .where("plan_snapshot", "is not", null)
    .orderBy("business_date", "desc")
    .executeTakeFirst();
  if (row === undefined || row.plan_snapshot === null || row.plan_epoch === null) return undefined;
  return {
    businessDate: row.business_date,
    snapshot: row.plan_snapshot,
    epoch: row.plan_epoch,
    overlaps: row.plan_overlaps ?? [],
  };
}

/**
 * The distinct pairs within `range` that were touched since `base`, whatever they amount to now. For a lookback source: all
 * pairs that have a row, since it cannot say; `range` is then the window.
 */
export function touchedPairs(
  db: Kysely<Schema>,
  job: Job,
  { base, range, ...filter }: PairFilter & { readonly base: PlanBase | undefined; readonly range: DateRange },
): Pairs {
  const { source } = job.definition;
  const dated = inRange(range, filter);
  if (base === undefined || source.kind === "lookback") return sourcePairs(db, job).where(dated).distinct();
  const stamped = db.selectFrom(source.rows(db).as("it")).select(["it.key", "it.business_date"]).where(dated);
  const seen = sql`${base.snapshot}::pg_snapshot`;
  const invisible = stamped
    .where("it.epoch", "=", base.epoch)
    .where("it.xid", ">=", sql<string>`pg_snapshot_xmin(${seen})`)
    .where(sql<boolean>`not pg_visible_in_snapshot(it.xid, ${seen})`);
  const pairs = invisible.union(stamped.where("it.epoch", ">", base.epoch));
  const gap = { after: latest(range.after, base.businessDate), before: range.before };
  const withGap = isEmpty(gap) ? pairs : pairs.union(sourcePairs(db, job).where(inRange(gap, filter)));
  return base.overlaps.length === 0 ? withGap : withGap.union(leftPairs(db, job, base).where(dated));
}

/** Whether no date is in the range. */
export function isEmpty({ after, before }: DateRange): boolean {
  if (after === undefined || before === undefined) return false;
  return Temporal.PlainDate.compare(Temporal.PlainDate.from(after).add({ days: 1 }), before) >= 0;
}

function sourcePairs(db: Kysely<Schema>, job: Job): Pairs {
  return db.selectFrom(job.definition.source.rows(db).as("it")).select(["it.key", "it.business_date"]);
}

/** Pairs of overlapping runs that had no entry yet in the base's snapshot. */
function leftPairs(db: Kysely<Schema>, job: Job, base: PlanBase): Pairs {
  return db
    .selectFrom("nightwriter.run_item as it")
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom("nightwriter.ledger_entry as entry")
          .select("entry.version_after")
          .where("entry.job_id", "=", job.id)
          .whereRef("entry.key", "=", "it.key")
          .whereRef("entry.business_date", "=", "it.business_date")
          .whereRef("entry.run_id", "=", "it.run_id")
          .where((each) =>
            each.or([
              each("entry.epoch", "<", base.epoch),
              each.and([
                each("entry.epoch", "=", base.epoch),
                sql<boolean>`pg_visible_in_snapshot(entry.xid, ${base.snapshot}::pg_snapshot)`,
              ]),
            ]),
          )
          .limit(1)
          .as("applied"),
      (join) => join.onTrue(),
    )
    .select(["it.key", "it.business_date"])
    .where("it.run_id", "=", sql<bigint>`any(${base.overlaps}::bigint[])`)
    .where("applied.version_after", "is", null);
}

/** In words that the server can carry into any source query, where they keep it from reading other rows: no subquery among them. */
function inRange({ after, before }: DateRange, { keys, except = [] }: PairFilter): RawBuilder<boolean> {
  const conditions = [
    ...(after === undefined ? [] : [sql`it.business_date > ${after}::date`]),
    ...(before === undefined ? [] : [sql`it.business_date < ${before}::date`]),
    ...(keys === undefined ? [] : [sql`it.key = any(${keys}::text[])`]),
    ...(except.length === 0 ? [] : [sql`${pairText} <> all(${except.map(textOf)}::text[])`]),
  ];
  return conditions.length === 0 ? sql`true` : sql`(${sql.join(conditions, sql` and `)})`;
}

const pairText = sql`(it.business_date || ' ' || it.key)`;
const textOf = ({ key, business_date }: Pair): string => `${business_date} ${key}`;

function latest(one: string | undefined, other: string): string {
  return one !== undefined && one > other ? one : other;
}
