/** What a run may plan, before anything is left out: queries of (key, business date) pairs. */
import type { Schema } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Planning } from "./planning.ts";
import { type DateRange, isEmpty, type Pair, type PairFilter, type PlanBase, touchedPairs } from "./touched-pairs.ts";

/** A query of pairs, to be built into a statement; the same pair may come more than once. */
export type Pairs = Expression<Pair>;

/**
 * The night's own date: every active key, whether it has source rows or not (it gets a zero entry as proof then), and
 * inactive keys that have one. `keys` narrows both. Without `compare`: all keys, whatever they are, since neither that nor their
 * rows can be read.
 */
export function keysOnDate(
  { db, job }: Planning,
  {
    businessDate,
    keys,
    except = [],
    compare = true,
  }: {
    readonly businessDate: string;
    readonly keys?: readonly string[] | undefined;
    readonly except?: readonly Pair[];
    readonly compare?: boolean;
  },
): Pairs {
  const date = sql<string>`${businessDate}::date`.as("business_date");
  const spared = except.filter((pair) => pair.business_date === businessDate).map(({ key }) => key);
  const known = db.selectFrom(job.definition.keys(db).as("it")).select(["it.key", date]).where(oneOf(keys));
  if (!compare) return known;
  // Asked in this order: whether a key is active may be what cannot be read of it.
  const active =
    spared.length === 0
      ? sql<boolean>`it.active`
      : sql<boolean>`case when it.key <> all(${spared}::text[]) then it.active end`;
  const inactiveWithSource = known
    .innerJoinLateral(
      () =>
        sourceOf(db, job)
          .select("source.amount_minor")
          .whereRef("source.key", "=", sql.ref("it.key"))
          .where("source.business_date", "=", businessDate)
          .limit(1)
          .as("found"),
      (join) => join.onTrue(),
    )
    .where(sql<boolean>`${active} = false`);
  return known.where(sql<boolean>`${active} = true`).unionAll(inactiveWithSource);
}

/** These keys on the date, active or not. The caller has checked that the job has them. */
export function givenKeys({ businessDate, keys }: { businessDate: string; keys: readonly string[] }): Pairs {
  return sql<Pair>`select given.key, ${businessDate}::date as business_date from unnest(${keys}::text[]) as given(key)`;
}

/** These pairs, as they are. */
export function givenPairs(pairs: readonly Pair[]): Pairs {
  const keys = pairs.map(({ key }) => key);
  const dates = pairs.map(({ business_date }) => business_date);
  return sql<Pair>`select given.key, given.business_date
    from unnest(${keys}::text[], ${dates}::date[]) as given(key, business_date)`;
}

/** All items of a run. */
export function itemsOf({ db }: Planning, runId: bigint, keys: readonly string[] | undefined): Pairs {
  return db
    .selectFrom("nightwriter.run_item as it")
    .select(["it.key", "it.business_date"])
    .where("it.run_id", "=", runId)
    .where(oneOf(keys));
}

export interface TouchedRequest {
  readonly businessDate: string;
  readonly base: PlanBase | undefined;
  readonly compare: boolean;
  /** Of these dates only. Default: all before the night's that are open. */
  readonly dates?: DateRange;
}

/**
 * Pairs of dates before the night's that were touched since the last plan. With `compare` only those whose source differs from
 * their entries; without, all of them: each of those gets at least a zero entry.
 *
 * The night's own date needs no look: {@link keysOnDate} has all that a look could find. Undefined: no date is left to look at.
 */
export function touchedBefore(
  { db, job, closedThrough }: Planning,
  { base, compare, ...asked }: PairFilter & TouchedRequest,
): Pairs | undefined {
  const { businessDate, dates, ...filter } = asked;
  const range = dates ?? openBefore({ job, closedThrough }, businessDate);
  if (isEmpty(range)) return undefined;
  const touched = touchedPairs(db, job, { base, range, ...filter });
  return compare ? differing(db, job, touched) : touched;
}

/** The dates before the night's that a plan looks at. */
export function openBefore(
  { job, closedThrough }: Pick<Planning, "job" | "closedThrough">,
  businessDate: string,
): DateRange {
  return { after: firstOpen(job, businessDate, closedThrough), before: businessDate };
}

function firstOpen(job: Job, businessDate: string, closedThrough: string | undefined): DateRange["after"] {
  const { source } = job.definition;
  if (source.kind === "stamped") return closedThrough;
  const beforeWindow = Temporal.PlainDate.from(businessDate).subtract({ days: source.days }).toString();
  return closedThrough !== undefined && closedThrough > beforeWindow ? closedThrough : beforeWindow;
}

/** Sums are numeric here, so that no row, however large, can stop a plan. */
function differing(db: Kysely<Schema>, job: Job, touched: ReturnType<typeof touchedPairs>): Pairs {
  return db
    .selectFrom(touched.as("touched"))
    .innerJoinLateral(
      () =>
        sourceOf(db, job)
          .select(sql`coalesce(sum(source.amount_minor), 0)`.as("minor"))
          .whereRef("source.key", "=", sql.ref("touched.key"))
          .whereRef("source.business_date", "=", sql.ref("touched.business_date"))
          .as("owed"),
      (join) => join.onTrue(),
    )
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom("nightwriter.ledger_entry as entry")
          .select(sql`coalesce(sum(entry.delta_minor), 0)`.as("minor"))
          .where("entry.job_id", "=", job.id)
          .whereRef("entry.key", "=", "touched.key")
          .whereRef("entry.business_date", "=", "touched.business_date")
          .as("entered"),
      (join) => join.onTrue(),
    )
    .select(["touched.key", "touched.business_date"])
    .whereRef("owed.minor", "<>", "entered.minor");
}

function sourceOf(db: Kysely<Schema>, job: Job) {
  return db.selectFrom(job.definition.source.rows(db).as("source"));
}

function oneOf(keys: readonly string[] | undefined): RawBuilder<SqlBool> {
  return keys === undefined ? sql`true` : sql`it.key = any(${keys}::text[])`;
}
