/**
 * Parking in one round trip, in statements of their own: a statement sees nothing that was committed while it waited, so one
 * that both waited at the gate and looked for entries would park what was applied meanwhile. Here each statement takes its
 * snapshot after the gate (a volatile function at READ COMMITTED), and no client stands between them that could freeze.
 *
 * Of a run at most 100 items, or 5 % of it if that is more, are parked for one cause. Where more fail it is hardly their own fault, and
 * parking them would make a person's work of what ends by itself: they are answered 'failing' and stay due. Counted are those that are
 * parked now, behind the gate, so that several workers agree, and a retry begins anew.
 *
 * The gate is the one of the guarded write: the same advisory locks, under the same number. After it come the term, then the
 * rows of the runs in the order of their ids, so that a cancellation is either seen or waits.
 */
export const parkItems: readonly string[] = [
  `alter table nightwriter.run_item add column parked_for text`,
  `comment on column nightwriter.run_item.parked_for is 'SQLSTATE or kind of damage that it was parked for last; null: never, or by hand'`,
  `create function nightwriter.park_items(
    for_job integer, for_partition integer, my_token bigint, my_nonce uuid, by_worker text,
    run_ids bigint[], business_dates date[], keys text[], reasons text[], sqlstates text[], causes text[]
  ) returns table (item bigint, outcome text, stored_token bigint) language plpgsql volatile as $$
  #variable_conflict use_column
  declare
    gate bigint;
    term nightwriter.partition_term;
    is_mine boolean;
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'items are parked at read committed only, not at %: an entry that was written while the park waited would not be seen',
        current_setting('transaction_isolation') using errcode = 'invalid_transaction_state';
    end if;
    for gate in select distinct run from unnest(run_ids) as given(run) order by run loop
      perform pg_advisory_xact_lock(1853321831, (gate % 2147483647)::integer);
    end loop;
    select * into term from nightwriter.partition_term as it
      where it.job_id = for_job and it.partition = for_partition for share;
    is_mine := coalesce(term.fencing_token = my_token and term.nonce = my_nonce, false);
    for gate in select distinct run from unnest(run_ids) as given(run) order by run loop
      perform from nightwriter.run where id = gate for no key update;
    end loop;
    return query
      with given as materialized (
        select * from unnest(run_ids, business_dates, keys, reasons, sqlstates, causes)
          with ordinality as given(run_id, business_date, key, reason, sqlstate, cause, item)
      ), looked as materialized (
        select given.*, due.status, run.id as job_run, run.cancelled_at, entry.version_after
        from given
        left join lateral (
          select it.status from nightwriter.run_item as it
          where it.run_id = given.run_id and it.business_date = given.business_date and it.key = given.key
            and it.partition = for_partition limit 1
        ) as due on true
        left join lateral (
          select it.id, it.cancelled_at from nightwriter.run as it where it.id = given.run_id and it.job_id = for_job limit 1
        ) as run on true
        left join lateral (
          select it.version_after from nightwriter.ledger_entry as it
          where it.job_id = for_job and it.business_date = given.business_date and it.key = given.key
            and it.run_id = given.run_id limit 1
        ) as entry on true
      ), judged as materialized (
        select *, case
          when version_after is not null then 'applied'
          when not is_mine then 'fenced'
          when status is null or job_run is null then 'unplanned'
          when status = 'cancelled' or cancelled_at is not null then 'cancelled'
          else 'parked'
        end as outcome
        from looked
      ), crowd as materialized (
        select run_id, cause, before, case
            when before + count(*) > 100 then greatest(100, (select count(*) from nightwriter.run_item as it where it.run_id = judged.run_id) / 20)
            else 100
          end as most
        from judged
        cross join lateral (
          select count(*) as before from nightwriter.run_item as it
          where it.run_id = judged.run_id and it.status = 'parked' and it.parked_for = judged.cause
        ) as parked
        where outcome = 'parked' and status = 'due'
        group by run_id, cause, before
      ), answered as materialized (
        select item, run_id, business_date, key, status, reason, sqlstate, cause, case
          when outcome = 'parked' and status = 'due'
            and before + row_number() over (partition by run_id, cause, outcome, status order by item) > most then 'failing'
          else outcome
        end as outcome
        from judged left join crowd using (run_id, cause)
      ), raised as (
        update nightwriter.run as it set revision = it.revision + 1
        where it.id in (select run_id from answered where outcome = 'parked' and status = 'due')
      ), parked as (
        update nightwriter.run_item as it set status = 'parked', parked_for = answered.cause
        from answered
        where answered.outcome = 'parked' and it.status = 'due'
          and it.run_id = answered.run_id and it.business_date = answered.business_date and it.key = answered.key
      ), noted as (
        insert into nightwriter.attempt (run_id, business_date, key, outcome, reason, sqlstate, fencing_token, worker)
        select run_id, business_date, key, outcome, reason, sqlstate, my_token, by_worker
        from answered where outcome = 'parked'
      )
      select answered.item, answered.outcome, case when is_mine then null else coalesce(term.fencing_token, 0) end
      from answered;
  end $$`,
];
