/**
 * A sale has neither a currency nor a zone of its own: the restaurant's, as it was when the sale was recorded, is what its
 * amount and its business date mean. So these stay as they are once something is recorded.
 *
 * Sales lie by date. Whether a restaurant has any is asked date by date, two index look-ups each: some milliseconds for years
 * of nights, where reading the table would take minutes. An import in mid-course has read the restaurant and recorded nothing
 * that we could see yet, so the change waits for its turn among imports; any other recorder holds the restaurant's row.
 */
export const restaurants: readonly string[] = [
  `create function sales.has_records(restaurant text) returns boolean
    language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    day date := (select min(business_date) from sales.sale);
  begin
    if exists (select from sales.opening_total where restaurant_id = restaurant) then return true; end if;
    while day is not null loop
      if exists (select from sales.sale where business_date = day and restaurant_id = restaurant) then return true; end if;
      day := (select min(business_date) from sales.sale where business_date > day);
    end loop;
    return false;
  end $$`,
  `create function sales.await_imports() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'restaurants are changed at read committed only, which sees what was recorded meanwhile; this is %',
        current_setting('transaction_isolation') using errcode = 'invalid_transaction_state';
    end if;
    perform pg_advisory_xact_lock(hashtext('nightwriter'), hashtext('sales.import'));
    return null;
  end $$`,
  `create function sales.keep_meaning() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    change text := case
      when tg_op = 'DELETE' then 'it cannot be deleted; set active to false instead'
      when new.id <> old.id then format('it cannot become %s; record what is sold under that id from now on', new.id)
      when new.currency <> old.currency then format('they are in %s, not %s; record what is sold in %2$s under another restaurant', old.currency, new.currency)
      when new.time_zone <> old.time_zone then format('their dates are those of %s, not %s; record what is sold there under another restaurant', old.time_zone, new.time_zone)
      else format('their dates end at %s, not %s; record what is sold by that under another restaurant', to_char(old.cutoff, 'HH24:MI'), to_char(new.cutoff, 'HH24:MI'))
    end;
  begin
    perform from sales.restaurant where id = old.id for update;
    if sales.has_records(old.id) then
      raise exception 'restaurant %: has sales or an opening total, and %', old.id, change using errcode = 'restrict_violation';
    end if;
    return case when tg_op = 'DELETE' then old else new end;
  end $$`,
  // By statement, before it locks any row: an import in mid-course may want that row.
  `create trigger restaurant_awaits_imports before update of id, currency, time_zone, cutoff or delete on sales.restaurant
    for each statement execute function sales.await_imports()`,
  `create trigger restaurant_keeps_meaning before update of id, currency, time_zone, cutoff on sales.restaurant
    for each row when ((new.id, new.currency, new.time_zone, new.cutoff) is distinct from (old.id, old.currency, old.time_zone, old.cutoff))
    execute function sales.keep_meaning()`,
  `create trigger restaurant_is_kept before delete on sales.restaurant for each row execute function sales.keep_meaning()`,
  `create function sales.check_time_zone() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    -- Region/City without a digit is a zone if the server takes it at all; of anything else it takes offsets too, and abbreviations.
    if new.time_zone ~ '^[A-Za-z_]+(/[A-Za-z_-]+)+$' then
      perform now() at time zone new.time_zone;
    elsif new.time_zone <> 'UTC' and not exists (select from pg_timezone_names where lower(name) = lower(new.time_zone)) then
      raise invalid_parameter_value;
    end if;
    return new;
  exception when invalid_parameter_value then
    raise exception 'restaurant %: the time zone % is not known to this server; name one like Europe/London', new.id, new.time_zone
      using errcode = 'invalid_parameter_value';
  end $$`,
  `create trigger restaurant_time_zone before insert or update of time_zone on sales.restaurant
    for each row execute function sales.check_time_zone()`,
];
