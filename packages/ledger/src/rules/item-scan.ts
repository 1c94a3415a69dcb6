/**
 * One pass that holds entries against the items of the job's runs: an entry without an item belongs to nothing, an item without an
 * entry may not be part of a finished run, and each item must be whole in itself.
 */
import { type RawBuilder, sql } from "kysely";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import type { Finding } from "./rule.ts";

export async function scanItems(inspection: Inspection): Promise<Finding[]> {
  const found = await findViolations(inspection, strangeItems(inspection));
  return [...found, ...(await findDoubles(inspection))];
}

/**
 * Whose job an item is of, its run says: one that has lost its run is told by every job. Which partition is its key's is asked only of
 * items that wait: an applied one stays where it was applied.
 */
function strangeItems({ job }: Inspection): RawBuilder<ViolationRow> {
  const id = sql`${job.id}::integer`;
  const ownPartition = sql`nightwriter.partition_of(item.key, (select partition_count from nightwriter.job where id = ${id}))`;
  return sql<ViolationRow>`
    select told.rule, told.measure, coalesce(entry.key, item.key) as key,
      coalesce(entry.business_date, item.business_date) as business_date, coalesce(entry.run_id, item.run_id) as run_id,
      null::bigint as version, told.expected::text, told.actual::text
    from (select run_id, business_date, key from nightwriter.ledger_entry where job_id = ${id}) as entry
    full join (
      select each.run_id, each.business_date, each.key, each.partition, each.status <> 'due' as is_withdrawn, run.id is null as is_lost,
        each.status = 'due' and run.finished_at is not null and run.cancelled_at is null as is_owed
      from nightwriter.run_item as each
      left join nightwriter.run on run.id = each.run_id
      where run.job_id = ${id} or run.id is null
    ) as item
      on item.run_id = entry.run_id and item.business_date = entry.business_date and item.key = entry.key
    cross join lateral (values
      ('one-entry-per-item', 'items', item.key is null or (item.is_lost and entry.key is not null), 1, 0),
      ('finished-runs-complete', 'entries', entry.key is null and item.is_owed, 1, 0),
      ('items-whole', 'runs', item.is_lost, 1, 0),
      ('items-whole', 'entries of a withdrawn item', entry.key is not null and item.is_withdrawn, 0, 1),
      ('items-whole', 'partition', entry.key is null and item.partition <> ${ownPartition},
        case when entry.key is null then ${ownPartition} end, item.partition)
    ) as told(rule, measure, holds, expected, actual)
    where case
        when item.key is null or item.is_lost then true
        when entry.key is null then item.is_owed or item.partition <> ${ownPartition}
        else item.is_withdrawn
      end
      and told.holds`;
}

/**
 * Items that are there several times. Only a table without its primary key can have them, which is asked first: to group all items
 * takes longer than all the rest of the pass.
 */
async function findDoubles(inspection: Inspection): Promise<Finding[]> {
  const { rows } = await sql`
    select from pg_constraint as it join pg_index as index on index.indexrelid = it.conindid
    where it.conrelid = 'nightwriter.run_item'::regclass and it.contype = 'p' and index.indisvalid
      and pg_get_constraintdef(it.oid) = 'PRIMARY KEY (run_id, business_date, key)'`.execute(inspection.db);
  if (rows.length > 0) return [];
  const id = sql`${inspection.job.id}::integer`;
  return findViolations(
    inspection,
    sql<ViolationRow>`
      select 'items-whole' as rule, 'items' as measure, item.key, item.business_date, item.run_id, null::bigint as version,
        '1' as expected, count(*)::text as actual
      from nightwriter.run_item as item
      join nightwriter.run on run.id = item.run_id
      where run.job_id = ${id}
      group by item.run_id, item.business_date, item.key
      having count(*) > 1`,
  );
}
