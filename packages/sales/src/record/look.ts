/** What a dry run shows besides the result: how the file was read, and whose the sales are that would be recorded. */
import type { Session } from "@nightwriter/database";
import type { ImportLook, ImportOptions, ReadLine, RestaurantLook } from "./import-options.ts";
import type { Loaded } from "./load-lines.ts";

export interface LookOptions {
  readonly options: ImportOptions;
  readonly source: string;
  readonly businessDates: readonly Temporal.PlainDate[];
  readonly loaded: Loaded;
  readonly first: readonly ReadLine[];
}

const maxRestaurants = 100;
const shownLines = 5;

/** Reads what this transaction has recorded so far. */
export async function lookAt(session: Session, look: LookOptions): Promise<ImportLook> {
  const { options, source, businessDates, loaded, first } = look;
  const rows = await session.query<RestaurantRow>(
    `select restaurant_id as id, currency, restaurant.xmin = pg_current_xact_id()::xid as "isNew", count(*) as sales,
       sum(amount_minor)::text as sum, min(business_date)::text as "firstDate", max(business_date)::text as "lastDate"
     from sales.sale join sales.restaurant on restaurant.id = restaurant_id
     where source = $1 and business_date = any($2::date[])
     group by restaurant_id, currency, restaurant.xmin order by count(*) desc, restaurant_id limit $3`,
    [source, businessDates.map(String), maxRestaurants],
  );
  return {
    delimiter: loaded.delimiter,
    encoding: options.encoding ?? "utf-8",
    header: loaded.header,
    firstLines: first.slice(0, shownLines),
    restaurants: rows.map(
      ({ sales, sum, ...row }): RestaurantLook => ({ ...row, sales: Number(sales), sumMinor: BigInt(sum) }),
    ),
  };
}

type RestaurantRow = Omit<RestaurantLook, "sales" | "sumMinor"> & { readonly sales: bigint; readonly sum: string };
