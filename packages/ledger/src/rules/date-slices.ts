/**
 * The business dates in slices, each with about as many entries. What groups pairs of (key, business date) can be done slice by
 * slice: on several connections, and with a hash table that fits the processor's caches, where one for a million pairs
 * misses them at every row.
 */
import type { Schema } from "@nightwriter/database";
import { type Kysely, sql } from "kysely";
import { type DateRange, dated, type Inspection } from "./inspection.ts";

/** Where no index leads from a date to its source rows, each slice reads all of them. */
const mostSlices = 16;

export interface SliceOptions extends DateRange, Pick<Inspection, "job"> {
  readonly db: Kysely<Schema>;
  /** Fewer are not worth a scan of their own. */
  readonly sliceEntries: number;
}

/** At least one, in order; together they are all dates from `from` to `to`, also those without an entry. */
export async function sliceDates({ db, job, from, to, sliceEntries }: SliceOptions): Promise<DateRange[]> {
  const { rows } = await sql<{ business_date: string; day_before: string; count: bigint }>`
    select entry.business_date, entry.business_date - 1 as day_before, count(*) as count
    from nightwriter.ledger_entry as entry
    where entry.job_id = ${job.id}::integer and ${dated({ from, to }, "entry")}
    group by entry.business_date
    order by entry.business_date`.execute(db);
  const entries = rows.reduce((sum, { count }) => sum + Number(count), 0);
  const enough = Math.max(sliceEntries, Math.ceil(entries / mostSlices));
  const slices: DateRange[] = [];
  let start = from;
  let filled = 0;
  for (const { business_date, day_before, count } of rows) {
    if (filled >= enough) {
      slices.push({ from: start, to: day_before });
      start = business_date;
      filled = 0;
    }
    filled += Number(count);
  }
  return [...slices, { from: start, to }];
}
