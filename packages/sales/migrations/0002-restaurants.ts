import { type Kysely, sql } from "kysely";

/** Restaurants whose zone or cutoff changes on a date, and those that are closed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table sales.restaurant add column closed_since date`,
  `comment on column sales.restaurant.closed_since is 'sales of this business date and later are refused'`,
  `create table sales.restaurant_clock (
    restaurant_id text collate "C" not null references sales.restaurant,
    from_date date not null check (from_date between '1900-01-01' and '2199-12-31'),
    time_zone text not null,
    cutoff time not null,
    primary key (restaurant_id, from_date)
  )`,
  `comment on table sales.restaurant_clock is
    'the zone and cutoff that tell business dates from from_date on; before the first one, those of the restaurant'`,
  // A date that has sales was told by the clock of then: another one would tell the same sales another date.
  `create function sales.keep_dates() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    place text := coalesce(new.restaurant_id, old.restaurant_id);
    first date := least(new.from_date, old.from_date);
    last date;
  begin
    perform from sales.restaurant where id = place for update;
    select max(business_date) into last from (
      select business_date from sales.sale where business_date >= first and restaurant_id = place
      union all select business_date from sales.opening_total where business_date >= first and restaurant_id = place) as recorded;
    if last is not null then
      raise exception 'restaurant %: has sales until %, whose dates its clock of then told; choose a date after it', place, last
        using errcode = 'restrict_violation';
    end if;
    return coalesce(new, old);
  end $$`,
  `create trigger restaurant_clock_awaits_imports before insert or update or delete on sales.restaurant_clock
    for each statement execute function sales.await_imports()`,
  `create trigger restaurant_clock_keeps_dates before insert or update or delete on sales.restaurant_clock
    for each row execute function sales.keep_dates()`,
  `create function sales.check_clock() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if new.time_zone <> 'UTC' and not exists (select from pg_timezone_names where lower(name) = lower(new.time_zone)) then
      raise exception 'restaurant %: the time zone % is not known to this server; name one like Europe/London',
        new.restaurant_id, new.time_zone using errcode = 'invalid_parameter_value';
    end if;
    return new;
  end $$`,
  `create trigger restaurant_clock_time_zone before insert or update of time_zone on sales.restaurant_clock
    for each row execute function sales.check_clock()`,
];
