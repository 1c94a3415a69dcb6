import { sql } from "kysely";
import { dated, findViolations, type Inspection, sourceRows, type ViolationRow } from "./inspection.ts";
import { inScope, type PairScope } from "./pair-scan.ts";
import type { Finding } from "./rule.ts";

/**
 * Computes each delta again, as it was computed then: the source rows that its stored snapshot saw, minus the deltas of the
 * same pair with lower versions (that the snapshot saw these too is the business of snapshot-order). `source_count` is the
 * number of those rows.
 *
 * Rows of an earlier epoch were there when the snapshot's cluster began; rows of a later one came after the snapshot's
 * cluster had ended. Ids are compared within one epoch only.
 *
 * What another version of the source query summed, only that query could sum again: such entries count as what they say,
 * and the report says how many there are.
 */
export async function findWrongDeltas(inspection: Inspection, scope: PairScope): Promise<Finding[]> {
  return findViolations(
    inspection,
    sql<ViolationRow>`
      with entry as materialized (
        select row_number() over () as id, it.*,
          coalesce(sum(it.delta_minor) over (
            partition by it.key, it.business_date order by it.version_after
            rows between unbounded preceding and 1 preceding), 0) as earlier_minor
        from nightwriter.ledger_entry as it
        where it.job_id = ${inspection.job.id}::integer and ${dated(inspection, "it")} and ${inScope(scope, "it")}
      ),
      seen as (
        select entry.id, coalesce(sum(source.amount_minor), 0) as amount_minor, count(source.key) as count
        from entry
        left join ${sourceRows(inspection)}
          on source.key = entry.key
          and source.business_date = entry.business_date
          and (source.epoch < entry.epoch
            or (source.epoch = entry.epoch and pg_visible_in_snapshot(source.xid, entry.source_snapshot)))
        group by entry.id
      )
      select 'delta-from-snapshot' as rule, told.measure, entry.key, entry.business_date, entry.run_id,
        entry.version_after as version, told.expected::text, told.actual::text
      from entry
      join seen on seen.id = entry.id
      cross join lateral (values
        ('delta_minor', seen.amount_minor - entry.earlier_minor, entry.delta_minor::numeric),
        ('source_count', seen.count::numeric, entry.source_count::numeric)
      ) as told(measure, expected, actual)
      where told.expected <> told.actual and entry.query_version <> all(${inspection.job.otherVersions}::integer[])`,
  );
}
