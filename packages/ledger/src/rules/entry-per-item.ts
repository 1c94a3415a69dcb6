import { sql } from "kysely";
import { dated, findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import { inScope, type PairScope } from "./pair-scan.ts";
import type { Finding } from "./rule.ts";

/** Items that have several entries: the unique constraint says there are none, and is not taken at its word. */
export async function findRepeatedItems(inspection: Inspection, scope: PairScope): Promise<Finding[]> {
  return findViolations(
    inspection,
    sql<ViolationRow>`
      select 'one-entry-per-item' as rule, 'entries' as measure, entry.key, entry.business_date, entry.run_id,
        max(entry.version_after) as version, '1' as expected, count(*)::text as actual
      from nightwriter.ledger_entry as entry
      where entry.job_id = ${inspection.job.id}::integer and ${dated(inspection, "entry")} and ${inScope(scope, "entry")}
      group by entry.key, entry.business_date, entry.run_id
      having count(*) > 1`,
  );
}
