/** What every check is given, and how what it finds comes back. */
import type { Schema } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type RawBuilder, sql, type Transaction } from "kysely";
import type { Finding, RuleName, Violation } from "./rule.ts";

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
  /** Pairs that are named at most: they travel to this process and back. */
  readonly namedPairs: number;
}

/** The columns of a query of violations; amounts as text, since sums can be larger than any bigint. */
export interface ViolationRow {
  rule: RuleName;
  measure: string;
  key: string | null;
  business_date: string | null;
  run_id: bigint | null;
  version: bigint | null;
  expected: string | null;
  actual: string | null;
}

/** Runs a query of {@link ViolationRow}s: counts them rule by rule, and brings the first of each. Throws the driver's error. */
export async function findViolations(inspection: Inspection, query: RawBuilder<ViolationRow>): Promise<Finding[]> {
  const { rows } = await sql<ViolationRow & { count: bigint }>`
    select * from (
      select found.*, count(*) over (partition by found.rule) as count,
        row_number() over (partition by found.rule order by found.key, found.version, found.business_date, found.run_id) as place
      from (${query}) as found
    ) as placed
    where placed.place <= ${inspection.listed}::bigint
    order by placed.rule, placed.place`.execute(inspection.db);
  const byRule = Map.groupBy(rows, (row) => row.rule);
  return [...byRule].map(([rule, found]) => ({
    rule,
    violationCount: Number(found[0]?.count ?? 0n),
    violations: found.map(violationOf),
  }));
}

function violationOf(row: ViolationRow): Violation {
  return {
    rule: row.rule,
    key: row.key ?? undefined,
    businessDate: row.business_date === null ? undefined : Temporal.PlainDate.from(row.business_date),
    runId: row.run_id ?? undefined,
    version: row.version ?? undefined,
    measure: row.measure,
    expected: row.expected === null ? undefined : BigInt(row.expected),
    actual: row.actual === null ? undefined : BigInt(row.actual),
  };
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
