/** The same sales for two restaurants: the file was imported for another one before, and this time or then that was a slip. */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import type { ReadLine } from "../record/import-options.ts";

export interface OtherRestaurantOptions {
  readonly name: string;
  readonly accepted: ReadonlySet<Acceptance>;
  /** The first lines of the file, which stand for all. */
  readonly lines: readonly ReadLine[];
  /** Business dates that had sales before. */
  readonly datesBefore: ReadonlySet<string>;
}

/** Fewer may be the same by accident. */
const fewestLines = 3;

/** Throws ImportFault `in_doubt` if another restaurant has all of these lines, and they were not taken back. */
export async function assertNotAnothers(session: Session, options: OtherRestaurantOptions): Promise<void> {
  const { name, accepted, lines, datesBefore } = options;
  const isNew = lines.some(({ businessDate }) => !datesBefore.has(businessDate));
  if (lines.length < fewestLines || isNew || accepted.has("same-sales")) return;
  const [found] = await session.query<{ id: string }>(
    `with line as (
       select date, amount, time, count(*) as count
       from unnest($1::date[], $2::bigint[], $3::timestamp[]) as line (date, amount, time) group by date, amount, time
     ),
     known as materialized (
       select restaurant_id, business_date, amount_minor, local_time from sales.sale
       where business_date = any($1::date[]) and amount_minor = any($2::bigint[]) and restaurant_id <> all($4::text[])
         and first_source is null and not exists (
           select from sales.sale as later
           where (later.first_date, later.first_source, later.first_line) = (sale.business_date, sale.source, sale.source_line))
     )
     select restaurant_id as id from (
       select restaurant_id, line.count, count(*) as found from line join known
         on business_date = date and amount_minor = amount and (local_time = time or local_time is null or time is null)
       group by restaurant_id, date, amount, time, line.count
     ) as match where found >= count group by restaurant_id having sum(count) = $5 order by restaurant_id limit 1`,
    [
      lines.map(({ businessDate }) => businessDate),
      lines.map(({ amountMinor }) => amountMinor),
      lines.map(({ localTime }) => localTime ?? null),
      [...new Set(lines.map(({ restaurant }) => restaurant))],
      lines.length,
    ],
  );
  if (found === undefined) return;
  const whose = JSON.stringify(lines[0]?.restaurant);
  doubt(accepted, ["same-sales"], {
    text: `${name}: restaurant ${JSON.stringify(found.id)} has the same sales as these of ${whose}, the first ${lines.length} of them at least`,
    instead: [
      "see that --restaurant says whose they are; imports list and undo show the other import, and take it back",
    ],
    details: { file: name, restaurant: found.id },
  });
}
