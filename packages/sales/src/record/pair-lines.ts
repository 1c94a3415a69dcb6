/**
 * Lines of a file and recorded sales that are the same as far as restaurant, business date, amount and local time tell, as multisets: each
 * line is paired with one sale at most, and each sale with one line.
 *
 * Where one side has no local time, since a file or a build did not note it, the time does not count. A sale is what its row and all later
 * rows about it come to on the date; one that was taken back counts for nothing.
 */
import type { Session } from "@nightwriter/database";

export interface Pairing {
  /** SQL: the lines of business date $1, as (line, restaurant_id, amount_minor, local_time). May use $2, the import's own source. */
  readonly lines: string;
  /** The source of what this import records. */
  readonly source: string;
  /** Sources of the file's own past, which are not compared with. */
  readonly except: readonly string[];
  /** Sales of other feeds are other sales. Empty: it may be any. */
  readonly feed: string;
  /** Only sales that have no id. */
  readonly isWithoutId: boolean;
  /** Whether the pairs are kept, in pg_temp.pair. */
  readonly isKept: boolean;
}

/** What was found of a restaurant on a date. */
export interface Paired {
  readonly restaurantId: string;
  readonly businessDate: string;
  /** Lines, recorded sales, and pairs of one each. */
  readonly lines: number;
  readonly recorded: number;
  readonly paired: number;
}

/** Whether lines and sales of a restaurant and date are too much alike for an accident. */
export function isAlike({ lines, recorded, paired }: Paired): boolean {
  return paired * 2 > Math.min(lines, recorded);
}

/** Returns what has at least one pair. */
export async function pairLines(session: Session, businessDate: string, pairing: Pairing): Promise<Paired[]> {
  const { source, except, feed, isKept } = pairing;
  const rows = await session.query<{ restaurantId: string; lines: bigint; recorded: bigint; paired: bigint }>(
    `${pairs(pairing)}${isKept ? keep : ""}
     select restaurant_id as "restaurantId", sum(lines)::bigint as lines, sum(recorded)::bigint as recorded, sum(paired)::bigint as paired
     from (
       select restaurant_id, count(*) as lines, 0 as recorded, 0 as paired from lines group by restaurant_id
       union all select restaurant_id, 0, count(*), 0 from recorded group by restaurant_id
       union all select restaurant_id, 0, 0, count(*) from pairs group by restaurant_id
     ) as counts group by restaurant_id having sum(paired) > 0 order by restaurant_id`,
    [businessDate, source, [...except, source], feed],
  );
  return rows.map(({ restaurantId, lines, recorded, paired }) => ({
    restaurantId,
    businessDate,
    lines: Number(lines),
    recorded: Number(recorded),
    paired: Number(paired),
  }));
}

const keep = `, kept as (
  insert into pg_temp.pair select line, restaurant_id, $1::date, first_date, first_source, first_line from pairs)`;

/** Exact times first; then lines with a time and sales without, then lines without a time and whatever is left. */
function pairs({ lines, isWithoutId }: Pairing): string {
  return `with lines as materialized (${lines}),
    recorded as materialized (${recorded(isWithoutId)}),
    exact as materialized (
      select line, sale.* from (
        select *, row_number() over (partition by restaurant_id, amount_minor, local_time order by line) as place from lines
        where local_time is not null
      ) as line join (
        select *, row_number() over (partition by restaurant_id, amount_minor, local_time order by first_source, first_line) as place
        from recorded where local_time is not null
      ) as sale using (restaurant_id, amount_minor, local_time, place)
    ),
    timed as materialized (
      select line, sale.* from (
        select *, row_number() over (partition by restaurant_id, amount_minor order by line) as place from lines
        where local_time is not null and line not in (select line from exact)
      ) as line join (
        select *, row_number() over (partition by restaurant_id, amount_minor order by first_source, first_line) as place
        from recorded where local_time is null
      ) as sale using (restaurant_id, amount_minor, place)
    ),
    untimed as materialized (
      select line, sale.* from (
        select *, row_number() over (partition by restaurant_id, amount_minor order by line) as place from lines
        where local_time is null
      ) as line join (
        select *, row_number() over (partition by restaurant_id, amount_minor order by first_source, first_line) as place
        from recorded where (first_date, first_source, first_line) not in (
          select first_date, first_source, first_line from exact union all select first_date, first_source, first_line from timed)
      ) as sale using (restaurant_id, amount_minor, place)
    ),
    pairs as (
      select line, restaurant_id, amount_minor, first_date, first_source, first_line from exact
      union all select line, restaurant_id, amount_minor, first_date, first_source, first_line from timed
      union all select line, restaurant_id, amount_minor, first_date, first_source, first_line from untimed
    )`;
}

function recorded(isWithoutId: boolean): string {
  const first =
    "coalesce(first_date, business_date), coalesce(first_source, source), coalesce(first_line, source_line)";
  return `select * from (
      select restaurant_id, sum(amount_minor)::bigint as amount_minor, max(local_time) as local_time,
        coalesce(first_date, business_date) as first_date, coalesce(first_source, source) as first_source,
        coalesce(first_line, source_line) as first_line
      from sales.sale
      where business_date = $1 and source <> $2 and restaurant_id in (select restaurant_id from lines)
        and coalesce(first_source, source) <> all($3::text[])
      group by restaurant_id, ${first}
      having sum(amount_minor) <> 0 or bool_and(first_source is null)
    ) as sale
    where ($4 = '' or coalesce((select feed from sales.import where import.source = first_source order by id limit 1), '') in ('', $4))
      ${isWithoutId ? `and not exists (${identity})` : ""}`;
}

/** An identity that a later import did not take away again. */
const identity = `select from sales.identity where (identity.first_date, identity.first_source, identity.first_line)
  = (sale.first_date, sale.first_source, sale.first_line)
  and not exists (select from sales.identity later where later.hash = identity.hash and later.import_id > identity.import_id
    and later.first_source is null)`;
