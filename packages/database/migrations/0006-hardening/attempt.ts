/**
 * What did not apply, and why: one row for each item, outcome and holder, with how often, first and last.
 *
 * A row for each try was no proof of anything, and an item that is stuck left several a second, for ever. What is there is
 * collapsed. Whoever inserts a plain row, as the builds before this one do, has it folded into the one that is there.
 */
export const attempt: readonly string[] = [
  `drop trigger attempt_append_only on nightwriter.attempt`,
  `create table nightwriter.attempt_collapsed as
    select distinct on (run_id, business_date, key, outcome, worker)
      run_id, business_date, key, outcome, reason, sqlstate, fencing_token, worker,
      count(*) over same as count, min(attempted_at) over same as first_at, max(attempted_at) over same as last_at
    from nightwriter.attempt
    window same as (partition by run_id, business_date, key, outcome, worker)
    order by run_id, business_date, key, outcome, worker, id desc`,
  `truncate nightwriter.attempt`,
  `drop index nightwriter.attempt_item`,
  `alter table nightwriter.attempt
    drop constraint attempt_pkey,
    drop column attempted_at,
    drop constraint attempt_outcome_check,
    add constraint attempt_outcome_check
      check (outcome in ('duplicate', 'fenced', 'conflict', 'withdrawn', 'unknown', 'failing', 'parked')),
    add column count bigint not null default 1 check (count >= 1),
    add column first_at timestamptz not null default now(),
    add column last_at timestamptz not null default now()`,
  `alter table nightwriter.attempt
    add column attempted_at timestamptz generated always as (last_at) stored,
    add primary key (run_id, business_date, key, outcome, worker),
    set (fillfactor = 70)`,
  `comment on column nightwriter.attempt.worker is 'the holder that tried: each has a row of its own'`,
  `comment on column nightwriter.attempt.reason is 'of the last try, like sqlstate and fencing_token'`,
  `comment on column nightwriter.attempt.id is 'read by the builds before this schema only, like attempted_at'`,
  `insert into nightwriter.attempt (run_id, business_date, key, outcome, reason, sqlstate, fencing_token, worker, count, first_at, last_at)
    select run_id, business_date, key, outcome, reason, sqlstate, fencing_token, worker, count, first_at, last_at
    from nightwriter.attempt_collapsed order by last_at`,
  `drop table nightwriter.attempt_collapsed`,
  `create function nightwriter.fold_attempt() returns trigger language plpgsql as $$
  begin
    insert into nightwriter.attempt as kept
        (run_id, business_date, key, outcome, reason, sqlstate, fencing_token, worker, count, first_at, last_at)
      values (new.run_id, new.business_date, new.key, new.outcome, new.reason, new.sqlstate, new.fencing_token, new.worker,
        new.count, new.first_at, new.last_at)
      on conflict (run_id, business_date, key, outcome, worker) do update set
        reason = excluded.reason, sqlstate = excluded.sqlstate, fencing_token = excluded.fencing_token,
        count = kept.count + excluded.count,
        first_at = least(kept.first_at, excluded.first_at), last_at = greatest(kept.last_at, excluded.last_at);
    return null;
  end $$`,
  `create trigger attempt_folded before insert on nightwriter.attempt
    for each row when (pg_trigger_depth() = 0) execute function nightwriter.fold_attempt()`,
];
