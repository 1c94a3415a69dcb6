/**
 * One pass that holds entries against the items of the job's runs: an entry without an item belongs to nothing, an item without an
 * entry may not be part of a finished run, and each item must be whole in itself.
 *
 * Both are counted in one grouping: that finds doubles too, which a join of them does not.
 */
import { type RawBuilder, sql } from "kysely";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import type { Finding } from "./rule.ts";

export async function scanItems(inspection: Inspection): Promise<Finding[]> {
  const partitionOfKey = sql`nightwriter.partition_of(each.key,
    (select partition_count from nightwriter.job where id = ${inspection.job.id}::integer))`;
  return findViolations(
    inspection,
    sql<ViolationRow>`
      select told.rule, told.measure, each.key, each.business_date, each.run_id, null::bigint as version,
        told.expected::text, told.actual::text
      from (${strange(inspection)}) as each
      cross join lateral (values
        ('one-entry-per-item', 'items', each.entries > 0 and each.items = 0, 1, 0),
        ('finished-runs-complete', 'entries', each.entries = 0 and each.is_owed, 1, 0),
        ('items-whole', 'items', each.items > 1, 1, each.items),
        ('items-whole', 'runs', each.lost > 0, 1, 0),
        ('items-whole', 'entries of a withdrawn item', each.entries > 0 and each.is_withdrawn, 0, each.entries),
        ('items-whole', 'partition', each.entries = 0 and each.items > 0 and each.partition <> ${partitionOfKey},
          case when each.items > 0 then ${partitionOfKey} end, each.partition)
      ) as told(rule, measure, holds, expected, actual)
      where told.holds`,
  );
}

/**
 * Items that are not plain. One is plain that is there once and has its entry, or waits for it in its key's partition. Whose job an
 * item is of, its run says: one that has lost its run is told by every job.
 */
function strange({ job }: Inspection): RawBuilder<unknown> {
  const id = sql`${job.id}::integer`;
  return sql`
    select either.run_id, either.business_date, either.key, sum(either.item) as items, sum(either.entry) as entries,
      sum(either.lost) as lost, bool_or(either.is_owed) as is_owed, bool_or(either.is_withdrawn) as is_withdrawn,
      max(either.partition) as partition
    from (
      select run_id, business_date, key, 0, 1, 0, false, false, null::integer
      from nightwriter.ledger_entry where job_id = ${id}
      union all
      select item.run_id, item.business_date, item.key, (run.id is not null)::integer, 0, (run.id is null)::integer,
        item.status = 'due' and run.finished_at is not null and run.cancelled_at is null, item.status <> 'due', item.partition
      from nightwriter.run_item as item
      left join nightwriter.run on run.id = item.run_id
      where run.job_id = ${id} or run.id is null
    ) as either(run_id, business_date, key, item, entry, lost, is_owed, is_withdrawn, partition)
    group by either.run_id, either.business_date, either.key
    having not (sum(either.item) = 1 and sum(either.lost) = 0 and case
      when sum(either.entry) > 0 then not bool_or(either.is_withdrawn)
      else not bool_or(either.is_owed) and max(either.partition) = nightwriter.partition_of(either.key,
        (select partition_count from nightwriter.job where id = ${id}))
    end)`;
}
