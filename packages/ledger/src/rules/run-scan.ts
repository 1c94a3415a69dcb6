/** What runs say of themselves: one night a date, and no plan that claims to have seen what has not happened yet. */
import { sql } from "kysely";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import type { Finding } from "./rule.ts";

/**
 * A plan's snapshot that lies ahead hides late sales from the plans after it: they count as planned already. Ids of another cluster
 * say nothing here, so a restored database is asked when its own epoch has begun.
 */
export async function scanRuns(inspection: Inspection): Promise<Finding[]> {
  const job = sql`${inspection.job.id}::integer`;
  return findViolations(
    inspection,
    sql<ViolationRow>`
      select 'one-night-per-date' as rule, 'nightly runs' as measure, null as key, business_date, max(id) as run_id,
        null::bigint as version, '1' as expected, count(*)::text as actual
      from nightwriter.run where job_id = ${job} and kind = 'nightly'
      group by business_date having count(*) > 1
      union all
      select 'snapshot-order', 'xid still to come, seen by the plan', null, business_date, id, null, null, pg_snapshot_xmax(plan_snapshot)::text
      from nightwriter.run
      where job_id = ${job} and plan_epoch = (select max(epoch) from nightwriter.epoch)
        and (select system_identifier from nightwriter.epoch order by epoch desc limit 1)
          = (select system_identifier from pg_control_system())
        and pg_snapshot_xmax(plan_snapshot) > pg_snapshot_xmax(pg_current_snapshot())`,
  );
}
