/** The statements of an opening, in the order in which they run. Throws SqlFault. */
import type { Session } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";

/** A table of this transaction's own for the lines of the file. */
export async function stageOpenings(session: Session): Promise<void> {
  await session.query(
    `create temporary table opening (
      key text collate "C" not null,
      line bigint not null,
      amount_minor bigint not null,
      business_date date
    ) on commit drop`,
  );
}

/** The first sale of each staged restaurant that has one. Sales lie by date, so all of them are gone through once, not once for each line. */
const firstSales = `select restaurant_id, min(business_date) as business_date from sales.sale
  where restaurant_id in (select key from opening) group by restaurant_id`;

/**
 * The first date on which something is planned for each staged restaurant that has no entry yet: an opening on that date would share its
 * pair with that item, and whichever is applied first takes both amounts.
 */
const firstItems = `select i.key, min(i.business_date) as business_date
  from nightwriter.run r join nightwriter.run_item i on i.run_id = r.id
  where r.job_id = $3 and i.key in (select key from opening) group by i.key`;

/**
 * Dates that the file leaves open: the one given, else the day before the first sale, else the business date before the current one;
 * and the day before the first planned item, if that is earlier.
 */
export async function dateOpenings(
  session: Session,
  { job, date, now }: { job: Job; date: Temporal.PlainDate | undefined; now: Temporal.Instant },
): Promise<void> {
  await session.query(
    `update opening as o set business_date = coalesce(
       $1::date,
       least(
         coalesce(first.business_date, ($2::timestamptz at time zone r.time_zone - r.cutoff::interval)::date),
         planned.business_date
       ) - 1
     )
     from sales.restaurant r
       left join (${firstSales}) first on first.restaurant_id = r.id
       left join (${firstItems}) planned on planned.key = r.id
     where r.id = o.key and o.business_date is null`,
    [date?.toString() ?? null, now.toString(), job.id],
  );
}

/** A line that cannot be an opening. At most one of the reasons is not null. */
export interface MisplacedOpening {
  readonly line: bigint;
  readonly key: string;
  readonly business_date: string;
  /** The line that has the restaurant already. */
  readonly same_as_line: bigint | null;
  /** The date of the opening total that it has. */
  readonly opened_on: string | null;
  readonly has_entries: boolean;
  /** The run that has still to apply the restaurant's item of that date, or from which that was withdrawn. */
  readonly taken_by_run: bigint | null;
  /** On or before the date of the opening. */
  readonly first_sale: string | null;
  readonly closed_through: string | null;
  /** How many lines are misplaced. */
  readonly count: bigint;
}

/** The first lines that cannot be openings, at most `limit`. */
export async function misplacedOpenings(
  session: Session,
  { job, limit }: { job: Job; limit: number },
): Promise<MisplacedOpening[]> {
  return session.query<MisplacedOpening>(
    `select found.*, count(*) over () as count from (
       select o.line, o.key, o.business_date,
         case when o.nth > 1 then o.first_line end as same_as_line,
         (select t.business_date from sales.opening_total t where t.restaurant_id = o.key) as opened_on,
         exists (select from nightwriter.ledger_entry e
           where e.job_id = $1 and e.version_after = 1 and e.key = o.key) as has_entries,
         (select min(i.run_id) from nightwriter.run r join nightwriter.run_item i on i.run_id = r.id
           where r.job_id = $1 and i.business_date = o.business_date and i.key = o.key) as taken_by_run,
         case when first.business_date <= o.business_date then first.business_date end as first_sale,
         (select j.closed_through from nightwriter.job j where j.id = $1 and j.closed_through >= o.business_date) as closed_through
       from (
         select *, row_number() over same as nth, first_value(line) over same as first_line
         from opening window same as (partition by key order by line)
       ) o
         left join (${firstSales}) first on first.restaurant_id = o.key
     ) as found
     where same_as_line is not null or opened_on is not null or has_entries or taken_by_run is not null
       or first_sale is not null or closed_through is not null
     order by line limit $2`,
    [job.id, limit],
  );
}

/** Records the staged lines as opening totals, and the run that makes them first entries. Returns the run. */
export async function recordOpenings(
  session: Session,
  { job, requestId }: { job: Job; requestId: string },
): Promise<{ runId: bigint; businessDate: string }> {
  await session.query(
    `insert into sales.opening_total (restaurant_id, business_date, amount_minor, source)
     select key, business_date, amount_minor, $1 from opening`,
    [requestId],
  );
  const runs = await session.query<{ runId: bigint; businessDate: string }>(
    `insert into nightwriter.run (job_id, business_date, kind, request_id, planned_at)
     select $1, max(business_date), 'opening', $2, clock_timestamp() from opening
     returning id as "runId", business_date as "businessDate"`,
    [job.id, requestId],
  );
  const [run] = runs;
  if (run === undefined) throw new Error("insert of a run returned no row");
  await session.query(
    `insert into nightwriter.run_item (run_id, business_date, key, partition)
     select $1, o.business_date, o.key, nightwriter.partition_of(o.key, j.partition_count)
     from opening o join nightwriter.job j on j.id = $2 order by o.business_date, o.key`,
    [run.runId, job.id],
  );
  await session.query(
    `insert into nightwriter.key_total (job_id, key)
     select $1, key from opening order by key on conflict (job_id, key) do nothing`,
    [job.id],
  );
  return run;
}

/** The run that this request made before, if it did. */
export async function findOpeningRun(
  session: Session,
  { job, requestId }: { job: Job; requestId: string },
): Promise<{ runId: bigint; businessDate: string } | undefined> {
  const rows = await session.query<{ runId: bigint; businessDate: string }>(
    `select id as "runId", business_date as "businessDate" from nightwriter.run
     where job_id = $1 and request_id = $2 and kind = 'opening'`,
    [job.id, requestId],
  );
  return rows[0];
}

/** What the staged lines come to, by currency. */
export async function sumOpenings(session: Session): Promise<Map<string, bigint>> {
  const rows = await session.query<{ currency: string; sum: string }>(
    `select r.currency, sum(o.amount_minor)::text as sum
     from opening o join sales.restaurant r on r.id = o.key group by r.currency order by r.currency`,
  );
  return new Map(rows.map((row) => [row.currency, BigInt(row.sum)]));
}
