/** Which staged lines are sales that are recorded already, by their ids or by their place in a file. */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import { ImportFault } from "../import-fault.ts";
import type { Places } from "./places.ts";
import { inSlices } from "./staging.ts";

/** Lines with the same id, of which one stays. Returns how many went. Throws ImportFault `in_doubt`. */
export async function dropRepeats(
  session: Session,
  { name, accepted }: { readonly name: string; readonly accepted: ReadonlySet<Acceptance> },
): Promise<number> {
  const [found] = await session.query<{ ids: bigint; lines: bigint; line: bigint | null; differs: boolean | null }>(
    `select count(*) as ids, coalesce(sum(lines), 0)::bigint as lines, min(line) as line, bool_or(differs) as differs from (
       select count(*) as lines, min(line) as line, count(distinct (amount_minor, business_date)) > 1 as differs
       from pg_temp.staged group by hash having count(*) > 1
     ) as repeats`,
  );
  if (found === undefined || found.ids === 0n) return 0;
  const fact = `${name}: ${found.lines} lines share ${found.ids === 1n ? "one id" : `${found.ids} ids`}, the first is line ${found.line}`;
  const instead = "add the column that tells its lines apart: a second --id-column";
  if (found.differs === true) {
    throw new ImportFault(
      "in_doubt",
      `${fact}, with different amounts or dates; nothing was recorded. If they are parts of an order, ${instead}`,
      {
        details: { file: name, line: found.line ?? 0n },
      },
    );
  }
  doubt(accepted, ["once-per-id"], {
    text: `${fact}, with the same amount`,
    instead: [instead],
    details: { file: name },
  });
  await session.query(
    `delete from pg_temp.staged using (select hash, min(line) as line from pg_temp.staged group by hash having count(*) > 1) as first
     where staged.hash = first.hash and staged.line <> first.line`,
  );
  return Number(found.lines - found.ids);
}

/** What the last import that set an id made of its sale. */
export async function findById(session: Session): Promise<void> {
  await inSlices(session, {
    given: `now as (
        select line, now.* from pg_temp.staged cross join lateral (
          select * from sales.identity where identity.hash = staged.hash order by import_id desc limit 1
        ) as now where line between $1 and $2
      ), taken_back as (
        insert into pg_temp.gone select distinct import_id from now where amount_minor is null on conflict do nothing
      )`,
    change: `insert into pg_temp.current
      select line, import_id, restaurant_id, business_date, amount_minor, first_date, first_source, first_line, false
      from now where amount_minor is not null`,
  });
}

/** The sales of lines that are left out. */
export async function findTaken(session: Session): Promise<void> {
  await session.query(
    `insert into pg_temp.taken
     select line, it.hash, now.import_id, now.restaurant_id, now.business_date, now.amount_minor, it.local_time,
       now.first_date, now.first_source, now.first_line
     from pg_temp.left_out as it cross join lateral (
       select * from sales.identity where identity.hash = it.hash order by import_id desc limit 1
     ) as now where now.amount_minor is not null`,
  );
}

/** What the row `first` of sales.sale and all rows about it come to: nothing, if it was taken back. */
const now = `(
  select restaurant_id, business_date, sum(amount_minor)::bigint as amount_minor from (
    select first.restaurant_id, first.business_date, first.amount_minor, true as is_first
    union all select restaurant_id, business_date, amount_minor, false from sales.sale
    where first_date = first.business_date and first_source = first.source and first_line = first.source_line
  ) as row group by restaurant_id, business_date having sum(amount_minor) <> 0 or bool_and(is_first) limit 1
) as now`;

const place =
  "first.source = any($1::text[]) and first.business_date = $2::date and first.source_line = staged.line and first.first_source is null";

/** The sales of the same lines, or of one of them; one that was taken back since is none. */
export async function findByPlace(session: Session, { sources, dates }: Places, line?: number): Promise<void> {
  for (const date of dates) {
    await session.query(
      `insert into pg_temp.current
       select staged.line, null, now.restaurant_id, now.business_date, now.amount_minor, first.business_date, first.source, first.source_line, true
       from pg_temp.staged join sales.sale as first on ${place} cross join lateral ${now}
       where staged.line = coalesce($3, staged.line)
       on conflict (line) do nothing`,
      [sources, date, line ?? null],
    );
  }
}

/** The sale of half a line whose whole id is another sale's, which has been found already: it never was one. */
export async function takeHalf(session: Session, { sources, dates }: Places, line: number): Promise<void> {
  for (const date of dates) {
    await session.query(
      `insert into pg_temp.taken
       select -staged.line, (
           select hash from sales.identity as old
           where (old.first_date, old.first_source, old.first_line) = (first.business_date, first.source, first.source_line)
           order by import_id desc limit 1
         ), null, now.restaurant_id, now.business_date, now.amount_minor, null, first.business_date, first.source, first.source_line
       from pg_temp.staged join pg_temp.current using (line) join sales.sale as first on ${place} cross join lateral ${now}
       where staged.line = $3 and (current.first_date, current.first_source, current.first_line)
         <> (first.business_date, first.source, first.source_line)`,
      [sources, date, line],
    );
  }
}

/** Half of an id is none: the sale is known by the whole one from now on. */
export async function renameId(
  session: Session,
  { line, importId }: { readonly line: number; readonly importId: bigint },
): Promise<void> {
  await session.query(
    `insert into sales.identity (hash, import_id, restaurant_id)
     select old.hash, $2, old.restaurant_id
     from pg_temp.current join pg_temp.staged using (line)
     join sales.identity old on (old.first_date, old.first_source, old.first_line) = (current.first_date, current.first_source, current.first_line)
     where line = $1 and is_adopted and old.hash <> staged.hash
     on conflict do nothing`,
    [line, importId],
  );
}
