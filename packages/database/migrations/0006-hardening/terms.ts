/**
 * Terms that can be proved to have ended: each has a token of its own, whichever build begins it, and is kept when it ends.
 *
 * Both are done by triggers, because a build that knows nothing of either raises, seals and resizes beside this one. They run as the
 * owner, so that no role can write an ended term by itself.
 */
export const terms: readonly string[] = [
  `create table nightwriter.ended_term (
    id bigint generated always as identity primary key,
    job_id integer not null,
    partition integer not null,
    fencing_token bigint not null,
    nonce uuid not null,
    holder text not null,
    since timestamptz not null,
    ended_at timestamptz not null default clock_timestamp(),
    ended_snapshot pg_snapshot not null,
    xid xid8 not null default pg_current_xact_id(),
    epoch integer not null default nightwriter.current_epoch()
  )`,
  `comment on column nightwriter.ended_term.ended_snapshot is
    'taken when the row of the term was locked: every write of the term had ended by then and is visible in it'`,
  `create index ended_term_token on nightwriter.ended_term (job_id, fencing_token)`,
  `create trigger ended_term_append_only before update or delete or truncate on nightwriter.ended_term
    for each statement execute function nightwriter.refuse_change()`,
  `revoke update, delete, truncate on nightwriter.ended_term from public`,
  `select nightwriter.require_stamps('nightwriter.ended_term')`,
  `alter table nightwriter.job add column ended_terms_after bigint not null default 0`,
  `comment on column nightwriter.job.ended_terms_after is
    'terms with a larger token than this one are kept in ended_term when they end; of earlier ones nothing may be known'`,
  `update nightwriter.job as it set ended_terms_after = greatest(it.fencing_token,
    (select max(term.fencing_token) from nightwriter.partition_term as term where term.job_id = it.id))`,
  // A token that stands where the job's counter is or above it, and that no term has had, is taken as it is; the counter follows.
  // Every other one is replaced by the next of the counter: a seal that kept it, a resize that gave all terms the same, a lost term
  // that was made anew with 1, a raise by a counter that somebody has set back. An insert that is about to meet the row of a term
  // ("on conflict") draws none.
  `create function nightwriter.give_own_token() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp as $$
  declare
    counter bigint;
    highest bigint;
  begin
    if tg_op = 'INSERT' and exists (
      select from nightwriter.partition_term as term where term.job_id = new.job_id and term.partition = new.partition
    ) then
      return new;
    end if;
    select job.fencing_token into counter from nightwriter.job where job.id = new.job_id for no key update;
    select coalesce(max(known.fencing_token), 0) into highest from (
      select term.fencing_token from nightwriter.partition_term as term where term.job_id = new.job_id
      union all
      select max(ended.fencing_token) from nightwriter.ended_term as ended where ended.job_id = new.job_id
    ) as known;
    if new.fencing_token <= highest or new.fencing_token < counter or (tg_op = 'INSERT' and new.fencing_token = counter) then
      new.fencing_token := greatest(counter, highest) + 1;
    end if;
    if new.fencing_token > counter then
      update nightwriter.job set fencing_token = new.fencing_token where job.id = new.job_id;
    end if;
    return new;
  end $$`,
  `create trigger partition_term_own_token before insert on nightwriter.partition_term
    for each row execute function nightwriter.give_own_token()`,
  `create trigger partition_term_next_token before update on nightwriter.partition_term
    for each row when ((old.job_id, old.partition, old.fencing_token, old.nonce)
      is distinct from (new.job_id, new.partition, new.fencing_token, new.nonce))
    execute function nightwriter.give_own_token()`,
  // Terms that share a token get one of their own; whoever holds them is refused once, and begins a new term.
  `update nightwriter.partition_term as it set nonce = gen_random_uuid()
    where exists (select from nightwriter.partition_term as other
      where other.job_id = it.job_id and other.partition <> it.partition and other.fencing_token = it.fencing_token)`,
  // After the row's lock was got, and in a statement of its own: at READ COMMITTED that takes a new snapshot, which sees the writes
  // that the lock was waited for. The snapshot of any stricter level may be older than these.
  `create function nightwriter.keep_ended_term() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp as $$
  begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      raise exception 'partition % of job %: a term is ended at isolation level read committed only, not at %; begin the transaction anew',
        old.partition, old.job_id, current_setting('transaction_isolation')
        using errcode = 'invalid_transaction_state';
    end if;
    insert into nightwriter.ended_term (job_id, partition, fencing_token, nonce, holder, since, ended_snapshot)
      values (old.job_id, old.partition, old.fencing_token, old.nonce, old.holder, old.since, pg_current_snapshot());
    return null;
  end $$`,
  `create trigger partition_term_replaced after update on nightwriter.partition_term
    for each row when ((old.job_id, old.partition, old.fencing_token, old.nonce)
      is distinct from (new.job_id, new.partition, new.fencing_token, new.nonce))
    execute function nightwriter.keep_ended_term()`,
  `create trigger partition_term_removed after delete on nightwriter.partition_term
    for each row execute function nightwriter.keep_ended_term()`,
  `create trigger partition_term_kept before truncate on nightwriter.partition_term
    for each statement execute function nightwriter.refuse_change()`,
  // Who may execute them could make them triggers of a table of his own, and write terms and the counter with the owner's rights. A
  // trigger that is there asks nobody for that.
  `revoke execute on function nightwriter.give_own_token(), nightwriter.keep_ended_term() from public`,
];
