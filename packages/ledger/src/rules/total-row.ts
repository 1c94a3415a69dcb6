import { sql } from "kysely";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import type { Finding } from "./rule.ts";

/** The row of each key says what its last entry says; all zero where there is no entry. A missing row is told by its version, doubles by their number. */
export async function findTotalRows(inspection: Inspection): Promise<Finding[]> {
  const job = sql`${inspection.job.id}::integer`;
  return findViolations(
    inspection,
    sql<ViolationRow>`
      select 'total-row' as rule, told.measure, coalesce(head.key, total.key) as key, entry.business_date, entry.run_id,
        entry.version_after as version, told.expected::text, told.actual::text
      from (
        select key, max(version_after) as version from nightwriter.ledger_entry where job_id = ${job} group by key
      ) as head
      full join (select * from nightwriter.key_total where job_id = ${job}) as total on total.key = head.key
      left join nightwriter.ledger_entry as entry
        on entry.job_id = ${job} and entry.key = head.key and entry.version_after = head.version
      cross join lateral (values
        ('version', coalesce(entry.version_after, 0), total.version),
        ('total_minor', coalesce(entry.total_after, 0), total.total_minor),
        ('fencing_token', coalesce(entry.fencing_token, 0), total.fencing_token)
      ) as told(measure, expected, actual)
      where told.expected is distinct from told.actual and (total.key is not null or told.measure = 'version')
      union all
      select 'total-row', 'rows', key, null, null, null, '1', count(*)::text
      from nightwriter.key_total where job_id = ${job} group by key having count(*) > 1`,
  );
}
