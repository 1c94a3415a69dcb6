/**
 * The bottom line: per (key, business date), what was entered is what the source says. A difference is excused by an item that
 * waits, and by being touched since the last plan in the planner's own words ({@link touchedPairs}), and is then outstanding.
 *
 * Dates up to closed_through are never planned, so nothing there is "not yet planned": without an item that waits, a
 * difference on a closed date is a violation, which a person has to look at. Where sources of closed dates were
 * archived, ask for later dates only.
 */
import { findPlanBase, type PlanBase, touchedPairs } from "@nightwriter/run";
import { type RawBuilder, sql } from "kysely";
import { type FoundRow, findingOf, foundRows } from "./found-rows.ts";
import { dated, type Inspection, isListed, sourceRows } from "./inspection.ts";
import type { DifferingPair, Outstanding, OutstandingReason, OutstandingSum } from "./outstanding.ts";
import { inScope, type PairScope } from "./pair-scan.ts";
import type { Finding } from "./rule.ts";

interface DifferenceRow extends FoundRow {
  reason: OutstandingReason | null;
  key: string;
  business_date: string;
  /** What the source says. */
  expected: string;
  /** What was entered. */
  actual: string;
  since: Date | null;
  count: bigint;
  lacking: string;
}

/** What {@link findDifferences} found; `outstanding` lists the oldest of each reason. */
export interface Differences {
  readonly findings: readonly Finding[];
  readonly sums: readonly OutstandingSum[];
  readonly outstanding: readonly Outstanding[];
}

/** What ages are counted to, and who wants every pair, a page at a time. */
export interface DifferenceOptions {
  readonly now: Temporal.Instant;
  readonly onPairs?: ((pairs: readonly DifferingPair[]) => Promise<void>) | undefined;
}

/** Throws the driver's error, and what `onPairs` throws. */
export async function findDifferences(
  inspection: Inspection,
  scope: PairScope,
  { now, onPairs }: DifferenceOptions,
): Promise<Differences> {
  const told = await toldDifferences(inspection, scope);
  const { rows } = await sql<DifferenceRow>`
    ${told},
    placed as (
      select found.*, count(*) over same as count, sum(found.lacks) over same as lacking,
        row_number() over (same order by found.since, found.business_date, found.key) as place
      from (${foundRows(inspection.job, sql`select * from told`)}) as found
      window same as (partition by found.reason, found.reason is null and found.given_at is not null)
    )
    select placed.*, placed.lacking::text as lacking from placed
    where ${isListed(inspection)}
    order by reason, place`.execute(inspection.db);
  if (onPairs !== undefined) await bringAll(inspection, told, onPairs);
  return differencesOf(rows, now);
}

/** Each differing pair with its reason, as common table expressions of which `told` is the last. */
async function toldDifferences(inspection: Inspection, scope: PairScope): Promise<RawBuilder<unknown>> {
  const base = await findPlanBase(inspection.db, inspection.job);
  const closedThrough = await findClosedThrough(inspection);
  const touched = touchedSince(inspection, base, closedThrough);
  return sql`
    with difference as materialized (${differing(inspection, scope)}),
    excuse as (
      select distinct on (item.key, item.business_date) item.* from (${waitingItems(inspection)}) as item
      order by item.key, item.business_date, item.rank, item.since
    ),
    told as (
      select 'entries-equal-sources' as rule, 'sum of deltas' as measure, difference.key, difference.business_date, excuse.run_id,
        null::bigint as version, difference.owed::text as expected, difference.entered::text as actual,
        difference.owed - difference.entered as lacks,
        case when excuse.key is not null then excuse.reason when touched.key is not null then 'unplanned' end as reason,
        case when excuse.key is not null then excuse.since when touched.key is not null then ${plannedAt(inspection, base)} end as since
      from difference
      left join excuse on excuse.key = difference.key and excuse.business_date = difference.business_date
      left join (${touched}) as touched
        on touched.key = difference.key and touched.business_date = difference.business_date
    )`;
}

const pageSize = 1_000;

/** By a cursor, so that neither side holds all of them; planned for all rows, where a cursor is planned for the first ones. */
async function bringAll(
  { db, job }: Inspection,
  told: RawBuilder<unknown>,
  onPairs: NonNullable<DifferenceOptions["onPairs"]>,
): Promise<void> {
  await sql`set local cursor_tuple_fraction = 1`.execute(db);
  await sql`declare differing no scroll cursor for ${told}
    select * from (${foundRows(job, sql`select * from told`)}) as found order by business_date, key`.execute(db);
  for (let isLast = false; !isLast; ) {
    const { rows } = await sql<DifferenceRow>`fetch ${sql.lit(pageSize)} from differing`.execute(db);
    if (rows.length > 0) await onPairs(rows.map(pairOf));
    isLast = rows.length < pageSize;
  }
  await sql`close differing`.execute(db);
}

function pairOf({
  reason,
  given_at,
  key,
  business_date,
  run_id,
  expected,
  actual,
  since,
}: DifferenceRow): DifferingPair {
  return {
    status: reason ?? (given_at === null ? "violated" : "acknowledged"),
    key,
    businessDate: Temporal.PlainDate.from(business_date),
    runId: run_id ?? undefined,
    sourceMinor: BigInt(expected),
    enteredMinor: BigInt(actual),
    since: since?.toTemporalInstant(),
  };
}

/** Pairs of the scope whose sums differ. Numeric, so that no row, however large, can hide the others. */
function differing(inspection: Inspection, scope: PairScope): RawBuilder<unknown> {
  return sql`
    select coalesce(owed.key, entered.key) as key, coalesce(owed.business_date, entered.business_date) as business_date,
      coalesce(owed.amount_minor, 0) as owed, coalesce(entered.amount_minor, 0) as entered
    from (
      select source.key, source.business_date, sum(source.amount_minor) as amount_minor
      from ${sourceRows(inspection)}
      where ${dated(inspection, "source")} and ${inScope(scope, "source")}
      group by source.key, source.business_date
    ) as owed
    full join (
      select entry.key, entry.business_date, sum(entry.delta_minor) as amount_minor
      from nightwriter.ledger_entry as entry
      where entry.job_id = ${inspection.job.id}::integer and ${dated(inspection, "entry")} and ${inScope(scope, "entry")}
      group by entry.key, entry.business_date
    ) as entered on entered.key = owed.key and entered.business_date = owed.business_date
    where coalesce(owed.amount_minor, 0) <> coalesce(entered.amount_minor, 0)`;
}

/** Items without an entry that keep the planner away from a differing pair, the most hopeful ones first. */
function waitingItems({ job }: Inspection): RawBuilder<unknown> {
  return sql`
    select item.key, item.business_date, item.run_id, coalesce(run.planned_at, run.created_at) as since, waits.reason, waits.rank
    from difference
    join nightwriter.run_item as item on item.key = difference.key and item.business_date = difference.business_date
    join nightwriter.run on run.id = item.run_id and run.job_id = ${job.id}::integer
    left join nightwriter.ledger_entry as entry
      on entry.job_id = run.job_id and entry.key = item.key
      and entry.business_date = item.business_date and entry.run_id = item.run_id
    cross join lateral (values
      ('due', 1, item.status = 'due' and run.cancelled_at is null and run.finished_at is null),
      ('parked', 2, item.status = 'parked' and run.cancelled_at is null),
      ('cancelled', 3, item.status = 'cancelled' or run.cancelled_at is not null)
    ) as waits(reason, rank, holds)
    where entry.key is null and waits.holds`;
}

/** What the next night will take up. */
function touchedSince(
  { db, job }: Inspection,
  base: PlanBase | undefined,
  closedThrough: string | undefined,
): RawBuilder<unknown> {
  const { source } = job.definition;
  const range = { after: closedThrough, before: undefined };
  if (source.kind === "stamped" || base === undefined) return sql`${touchedPairs(db, job, { base, range })}`;
  const nextNight = Temporal.PlainDate.from(base.businessDate).add({ days: 1 });
  const beforeWindow = nextNight.subtract({ days: source.days }).toString();
  const after = closedThrough !== undefined && closedThrough > beforeWindow ? closedThrough : beforeWindow;
  return sql`${touchedPairs(db, job, { base, range: { after, before: undefined } })}`;
}

function plannedAt({ job }: Inspection, base: PlanBase | undefined): RawBuilder<unknown> {
  return sql`(select planned_at from nightwriter.run
    where job_id = ${job.id}::integer and kind = 'nightly' and business_date = ${base?.businessDate ?? null}::date)`;
}

async function findClosedThrough({ db, job }: Inspection): Promise<string | undefined> {
  const row = await db
    .selectFrom("nightwriter.job")
    .select("closed_through")
    .where("id", "=", job.id)
    .executeTakeFirst();
  return row?.closed_through ?? undefined;
}

function differencesOf(rows: readonly DifferenceRow[], now: Temporal.Instant): Differences {
  const outstanding: Outstanding[] = [];
  const sums = new Map<OutstandingReason, OutstandingSum>();
  const broken: DifferenceRow[] = [];
  for (const row of rows) {
    const { reason } = row;
    if (reason === null) {
      broken.push(row);
      continue;
    }
    sums.set(reason, { reason, pairCount: Number(row.count), amountMinor: BigInt(row.lacking) });
    const since = row.since?.toTemporalInstant();
    outstanding.push({
      reason,
      key: row.key,
      businessDate: Temporal.PlainDate.from(row.business_date),
      amountMinor: BigInt(row.expected) - BigInt(row.actual),
      runId: row.run_id ?? undefined,
      since,
      age: since === undefined ? undefined : now.since(since, { largestUnit: "hour" }),
    });
  }
  const findings = broken.length === 0 ? [] : [findingOf("entries-equal-sources", broken)];
  return { findings, sums: [...sums.values()], outstanding };
}
