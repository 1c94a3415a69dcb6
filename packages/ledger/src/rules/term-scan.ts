/**
 * That the fence held: no entry carries the token of a term that had ended when it was written.
 *
 * Every write of a term has ended when the term's row is locked for its end, so the snapshot that is taken then sees them all, and
 * an entry of that term which it does not see was written by a holder that nobody stopped. An entry carries its writer's token:
 * the row's would always be in order.
 *
 * Of most tokens, one comparison clears all entries: the last of their ids is below what the ended snapshot's oldest was.
 */
import { sql } from "kysely";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import type { Finding } from "./rule.ts";

/** Entries against terms. Those under tokens from before ended terms were kept cannot be judged; the report counts them. */
export async function scanTerms(inspection: Inspection): Promise<Finding[]> {
  const job = sql`${inspection.job.id}::integer`;
  return findViolations(
    inspection,
    sql<ViolationRow>`
      with used as materialized (
        select fencing_token, epoch, max(xid) as last_xid
        from nightwriter.ledger_entry where job_id = ${job}
        group by fencing_token, epoch
      ),
      lasting as (select distinct fencing_token from nightwriter.partition_term where job_id = ${job}),
      -- Of terms that shared a token, long ago, the one that ended last: it has seen all that the others saw.
      ended as (
        select distinct on (fencing_token) fencing_token, epoch, ended_snapshot
        from nightwriter.ended_term where job_id = ${job}
        order by fencing_token, id desc
      ),
      suspect as materialized (
        select used.fencing_token, used.epoch, ended.epoch as ended_epoch, ended.ended_snapshot,
          job.fencing_token as counter, used.fencing_token > job.fencing_token as is_above
        from used
        join nightwriter.job on job.id = ${job}
        left join lasting on lasting.fencing_token = used.fencing_token
        left join ended on ended.fencing_token = used.fencing_token
        where used.fencing_token > job.fencing_token
          or (lasting.fencing_token is null and case
            when ended.fencing_token is null then used.fencing_token > job.ended_terms_after
            else used.epoch > ended.epoch
              or (used.epoch = ended.epoch and used.last_xid >= pg_snapshot_xmin(ended.ended_snapshot))
          end)
      )
      select told.rule, told.measure, entry.key, entry.business_date, entry.run_id, entry.version_after as version,
        told.expected::text, told.actual::text
      from suspect
      join nightwriter.ledger_entry as entry
        on entry.job_id = ${job} and entry.fencing_token = suspect.fencing_token and entry.epoch = suspect.epoch
      cross join lateral (values
        ('terms-whole', 'fencing_token', suspect.is_above, suspect.counter::text, entry.fencing_token::text),
        ('within-term', 'terms of its token', not suspect.is_above and suspect.ended_epoch is null, '1', '0'),
        ('within-term', 'xid', not suspect.is_above and (suspect.epoch > suspect.ended_epoch
            or (suspect.epoch = suspect.ended_epoch and not pg_visible_in_snapshot(entry.xid, suspect.ended_snapshot))),
          pg_snapshot_xmax(suspect.ended_snapshot)::text, entry.xid::text)
      ) as told(rule, measure, holds, expected, actual)
      where told.holds`,
  );
}

/** Terms and the rows of totals against the job's counter. */
export async function findWrongTerms(inspection: Inspection): Promise<Finding[]> {
  const job = sql`${inspection.job.id}::integer`;
  return findViolations(
    inspection,
    sql<ViolationRow>`
      with term as (select * from nightwriter.partition_term where job_id = ${job}),
      job as (select * from nightwriter.job where id = ${job})
      select told.rule, told.measure, told.key, null::date as business_date, null::bigint as run_id, null::bigint as version,
        told.expected::text, told.actual::text
      from (
        select 'terms-whole' as rule, 'terms of partition ' || place.partition as measure, null as key, 1 as expected, 0 as actual
        from job, generate_series(0, job.partition_count - 1) as place(partition)
        where not exists (select from term where term.partition = place.partition)
        union all
        select 'terms-whole', 'terms of partition ' || term.partition, null, 1, count(*) from term
        group by term.partition having count(*) > 1
        union all
        select 'terms-whole', 'terms with token ' || term.fencing_token, null, 1, count(*) from term
        group by term.fencing_token having count(*) > 1
        union all
        select 'terms-whole', 'token of partition ' || term.partition, null, job.fencing_token, term.fencing_token from term, job
        where term.fencing_token > job.fencing_token
        union all
        select 'terms-whole', 'token of the row', total.key, job.fencing_token, total.fencing_token
        from job join nightwriter.key_total as total on total.job_id = job.id
        where total.fencing_token > job.fencing_token
      ) as told(rule, measure, key, expected, actual)`,
  );
}
