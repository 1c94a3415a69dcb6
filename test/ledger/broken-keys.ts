/** A source that fails for chosen keys only, each with a SQLSTATE of its choice, and can be mended. */
import type { Schema } from "@nightwriter/database";
import type { JobDefinition } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { type Kysely, sql } from "kysely";

/** The shipped job, its amounts read through a function that refuses the keys in `broken_key`. */
export const brokenTotals: JobDefinition = {
  ...restaurantTotals,
  source: {
    kind: "stamped",
    rows: () =>
      sql<never>`(select restaurant_id as key, business_date, checked(restaurant_id, amount_minor) as amount_minor, xid, epoch
        from sales.sale)`,
  },
};

/** Makes what {@link brokenTotals} reads. `stable`: its amounts are summed only where they are asked for. */
export async function prepareBroken(
  db: Kysely<Schema>,
  { volatility = "stable" }: { readonly volatility?: "stable" | "volatile" } = {},
): Promise<void> {
  await sql`create table broken_key (key text collate "C" primary key, sqlstate text not null)`.execute(db);
  await sql`
    create function checked(given text, amount bigint) returns bigint language plpgsql ${sql.raw(volatility)} as $$
    declare
      found_state text;
    begin
      select b.sqlstate into found_state from public.broken_key b where b.key = given;
      if found_state = 'sleep' then
        perform pg_sleep(60);
      elsif found_state = '21000' then
        return (select amount from generate_series(1, 2));
      elsif found_state is not null then
        raise exception 'till % is broken', given using errcode = found_state;
      end if;
      return amount;
    end $$`.execute(db);
}

/** From now on these keys fail with these SQLSTATEs. */
export async function breakKeys(db: Kysely<Schema>, states: Readonly<Record<string, string>>): Promise<void> {
  await sql`insert into broken_key
    select * from unnest(${Object.keys(states)}::text[], ${Object.values(states)}::text[])
    on conflict (key) do update set sqlstate = excluded.sqlstate`.execute(db);
}

/** From now on none fails. */
export async function mendKeys(db: Kysely<Schema>): Promise<void> {
  await sql`truncate broken_key`.execute(db);
}
