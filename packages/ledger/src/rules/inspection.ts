/** What every check is given, and how what it finds comes back. */
import type { Schema } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type RawBuilder, sql, type Transaction } from "kysely";
import { type FoundRow, findingOf, foundRows, type ViolationRow } from "./found-rows.ts";
import type { Finding } from "./rule.ts";

export type { ViolationRow } from "./found-rows.ts";

/** `YYYY-MM-DD`, both included; undefined: without an end. */
export interface DateRange {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** A transaction on the snapshot that all checks share, and what is looked at in it: dates limit what is about dates. */
export interface Inspection extends DateRange {
  readonly db: Transaction<Schema>;
  readonly job: Job;
  /** Violations, and outstanding pairs of one reason, that are listed at most. */
  readonly listed: number;
  /** Findings that are listed, whatever their place, and no others. Undefined: the first of all. */
  readonly only: readonly string[] | undefined;
  /** Pairs that are named at most: they travel to this process and back. */
  readonly namedPairs: number;
}

/** Runs a query of {@link ViolationRow}s: counts them rule by rule, and brings the first of each. Throws the driver's error. */
export async function findViolations(inspection: Inspection, query: RawBuilder<ViolationRow>): Promise<Finding[]> {
  const { rows } = await sql<FoundRow & { count: bigint }>`
    select * from (
      select told.*, count(*) over same as count, row_number() over (same order by told.key, told.version, told.business_date, told.run_id) as place
      from (${foundRows(inspection.job, query)}) as told
      window same as (partition by told.rule, told.given_at is not null)
    ) as placed
    where ${isListed(inspection)}
    order by placed.rule, placed.place`.execute(inspection.db);
  return [...Map.groupBy(rows, (row) => row.rule)].map(([rule, found]) => findingOf(rule, found));
}

/** Whether the row of `placed` is one that is brought along. */
export function isListed({ only, listed }: Inspection): RawBuilder<boolean> {
  return only === undefined
    ? sql<boolean>`placed.place <= ${listed}::bigint`
    : sql<boolean>`placed.finding = any(${only}::text[])`;
}

/** Whether the date of `alias` is one that was asked for. */
export function dated({ from, to }: DateRange, alias: string): RawBuilder<boolean> {
  const date = sql.ref(`${alias}.business_date`);
  const after = from === undefined ? sql`true` : sql`${date} >= ${from}::date`;
  const before = to === undefined ? sql`true` : sql`${date} <= ${to}::date`;
  return sql<boolean>`(${after} and ${before})`;
}

/** The source rows of the dates that were asked for, to be put behind `from`, called `source`. */
export function sourceRows({ db, job }: Inspection): RawBuilder<unknown> {
  return sql`${job.definition.source.rows(db).as("source")}`;
}
