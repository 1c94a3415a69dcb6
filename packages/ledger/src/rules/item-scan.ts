/**
 * One pass that holds entries against the items of the job's runs, for two rules: an entry without an item belongs to
 * nothing, and an item without an entry may not be part of a finished run.
 */
import { sql } from "kysely";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import type { Finding } from "./rule.ts";

export async function scanItems(inspection: Inspection): Promise<Finding[]> {
  const job = sql`${inspection.job.id}::integer`;
  return findViolations(
    inspection,
    sql<ViolationRow>`
      select case when item.key is null then 'one-entry-per-item' else 'finished-runs-complete' end as rule,
        case when item.key is null then 'items' else 'entries' end as measure,
        coalesce(entry.key, item.key) as key, coalesce(entry.business_date, item.business_date) as business_date,
        coalesce(entry.run_id, item.run_id) as run_id, null::bigint as version, '1' as expected, '0' as actual
      from (select run_id, business_date, key from nightwriter.ledger_entry where job_id = ${job}) as entry
      full join (
        select each.run_id, each.business_date, each.key,
          each.status = 'due' and run.finished_at is not null and run.cancelled_at is null as owed
        from nightwriter.run_item as each
        join nightwriter.run on run.id = each.run_id
        where run.job_id = ${job}
      ) as item
        on item.run_id = entry.run_id and item.business_date = entry.business_date and item.key = entry.key
      where item.key is null or (entry.key is null and item.owed)`,
  );
}
