import type { Session } from "@nightwriter/database";

/** The business dates that have sales, whoever recorded them. One look into the index for each date, however many sales there are. */
export async function findRecordedDates(session: Session): Promise<ReadonlySet<string>> {
  const rows = await session.query<{ date: string }>(
    `with recursive recorded as (
       select min(business_date) as date from sales.sale
       union all
       select (select min(business_date) from sales.sale where business_date > date) from recorded where date is not null
     ) select date from recorded where date is not null`,
  );
  return new Set(rows.map(({ date }) => date));
}
