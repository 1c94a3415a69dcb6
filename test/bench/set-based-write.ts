/**
 * A night in one statement over all its keys: sum sources minus entries, move totals, insert entries. It is what the
 * guarded statement is measured by, and what makes the history.
 *
 * It does the same work and protects nothing: it asks for no term, no revision, no version, no lock order. Nothing may write beside it.
 * Each part has the form that was the fastest of those tried: the night's sales are found by their date and hashed, entries
 * are looked up pair by pair. Nested loops are off: statistics know nothing of tonight, and a plan that expects one item sums the
 * night's sales again for each of them.
 */
import { invariant } from "@nightwriter/core";
import type { Ledger, Night } from "./ledger.ts";
import { withSetting } from "./setting.ts";

const text = `
  with source as (
    select it.key, sum(it.amount_minor)::bigint as minor, count(*) as count
    from (
      select restaurant_id as key, business_date, amount_minor from sales.sale
      union all
      select restaurant_id, business_date, amount_minor from sales.opening_total
    ) as it
    where it.business_date = $3::date
    group by it.key
  ),
  delta as (
    select item.key, coalesce(source.minor, 0) - entered.minor as minor, coalesce(source.count, 0) as count,
      term.fencing_token as token
    from nightwriter.run_item as item
    join nightwriter.partition_term as term on term.job_id = $1::integer and term.partition = item.partition
    left join source on source.key = item.key
    cross join lateral (
      select coalesce(sum(entry.delta_minor), 0)::bigint as minor
      from nightwriter.ledger_entry as entry
      where entry.job_id = $1::integer and entry.key = item.key and entry.business_date = item.business_date
    ) as entered
    where item.run_id = $2::bigint and item.business_date = $3::date and item.status = 'due'
  ),
  moved as (
    update nightwriter.key_total as it
    set total_minor = it.total_minor + delta.minor, version = it.version + 1, fencing_token = delta.token
    from delta
    where it.job_id = $1::integer and it.key = delta.key
    returning it.key, delta.minor, delta.count, delta.token, it.version, it.total_minor
  ),
  written as (
    insert into nightwriter.ledger_entry (job_id, run_id, key, business_date, delta_minor, source_count, fencing_token,
      version_after, total_after, source_snapshot, epoch, worker)
    select $1::integer, $2::bigint, moved.key, $3::date, moved.minor, moved.count, moved.token,
      moved.version, moved.total_minor, pg_current_snapshot(), (select nightwriter.current_epoch()), 'set-based'
    from moved
    returning 1
  )
  select count(*) as count from written`;

/** Applies every due item of the night, and returns how many these were. Throws SqlFault. */
export async function setBasedWrite({ database, job }: Ledger, { runId, businessDate }: Night): Promise<number> {
  return withSetting(database, "enable_nestloop = off", async (session) => {
    const [row] = await session.query<{ count: bigint }>(text, [job.id, runId, businessDate]);
    invariant(row !== undefined, "a count is a row");
    return Number(row.count);
  });
}
