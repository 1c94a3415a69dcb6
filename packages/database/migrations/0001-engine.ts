import { type Kysely, sql } from "kysely";

/**
 * The engine: jobs, runs, items, totals, the ledger, terms.
 *
 * No foreign keys lead out of ledger_entry: checking them would lock a row of run_item for each entry, on the hottest
 * path there is; `verify` proves instead that each entry belongs to an item. run_item and key_total have none either: the
 * plan inserts both by the ten thousand for one run and one job that it holds in hand, and checking each row was 40 % of it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table nightwriter.epoch (
    epoch integer primary key,
    system_identifier bigint not null,
    started_at timestamptz not null default now()
  )`,
  `comment on table nightwriter.epoch is
    'one row for each time that this data moved into another cluster: transaction ids of different clusters cannot be compared'`,
  `create function nightwriter.current_epoch() returns integer language plpgsql stable parallel safe as $$
  declare
    found_epoch integer;
  begin
    select e.epoch into found_epoch from nightwriter.epoch e
      where e.epoch = (select max(l.epoch) from nightwriter.epoch l)
        and e.system_identifier = (select c.system_identifier from pg_control_system() c);
    if found_epoch is null then
      raise exception 'this database was restored into another cluster and has no epoch in it yet; run: nightwriter migrate'
        using errcode = 'object_not_in_prerequisite_state';
    end if;
    return found_epoch;
  end $$`,
  `create function nightwriter.partition_of(key text, partition_count integer) returns integer
    language sql immutable strict parallel safe
    return (('x' || substr(md5(key), 1, 8))::bit(32)::bigint % partition_count)::integer`,
  `create aggregate nightwriter.sum_minor(bigint)
    (sfunc = int8pl, stype = bigint, combinefunc = int8pl, parallel = safe)`,
  `comment on aggregate nightwriter.sum_minor(bigint) is
    'a sum that stays bigint and fails where it would overflow: twice as fast as sum() over many groups'`,
  `create function nightwriter.refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception '% is append-only: % refused; record a new row that corrects it', tg_table_name, lower(tg_op)
      using errcode = 'restrict_violation';
  end $$`,
  `create table nightwriter.job (
    id integer generated always as identity primary key,
    name text collate "C" not null unique check (name ~ '^[a-z][a-z0-9-]{0,62}$'),
    partition_count integer not null check (partition_count between 1 and 1024),
    closed_through date,
    query_version integer not null default 1,
    fencing_token bigint not null default 0,
    created_at timestamptz not null default now()
  )`,
  `comment on column nightwriter.job.fencing_token is 'the last token handed out: one counter for all partitions of the job'`,
  `create table nightwriter.partition_term (
    job_id integer not null references nightwriter.job,
    partition integer not null check (partition >= 0),
    fencing_token bigint not null,
    nonce uuid not null default gen_random_uuid(),
    holder text not null,
    since timestamptz not null default now(),
    primary key (job_id, partition)
  )`,
  `create table nightwriter.run (
    id bigint generated always as identity primary key,
    job_id integer not null references nightwriter.job,
    business_date date not null,
    kind text not null check (kind in ('nightly', 'manual', 'rerun', 'backfill', 'opening')),
    request_id text collate "C",
    request_digest text,
    revision bigint not null default 0,
    plan_snapshot pg_snapshot,
    plan_epoch integer references nightwriter.epoch,
    plan_overlaps bigint[],
    created_at timestamptz not null default now(),
    planned_at timestamptz,
    finished_at timestamptz,
    cancelled_at timestamptz,
    check ((kind = 'nightly') = (request_id is null)),
    check ((plan_snapshot is null) = (plan_epoch is null))
  )`,
  `comment on column nightwriter.run.plan_overlaps is
    'runs that were unfinished when this one was planned: what they applied afterwards may have been summed before'`,
  `create unique index run_nightly on nightwriter.run (job_id, business_date) where kind = 'nightly'`,
  `create unique index run_request on nightwriter.run (job_id, request_id) where kind <> 'nightly'`,
  `create index run_unfinished on nightwriter.run (job_id, id) where finished_at is null`,
  `create table nightwriter.run_item (
    run_id bigint not null,
    business_date date not null,
    key text collate "C" not null,
    partition integer not null,
    status text not null default 'due' check (status in ('due', 'parked', 'cancelled')),
    generation integer not null default 0,
    primary key (run_id, business_date, key)
  )`,
  `create index run_item_withdrawn on nightwriter.run_item (key, business_date) where status <> 'due'`,
  `create table nightwriter.key_total (
    job_id integer not null,
    key text collate "C" not null,
    total_minor bigint not null default 0,
    version bigint not null default 0,
    fencing_token bigint not null default 0,
    paused_at timestamptz,
    primary key (job_id, key)
  ) with (fillfactor = 70)`,
  `create table nightwriter.ledger_entry (
    job_id integer not null,
    run_id bigint not null,
    key text collate "C" not null,
    business_date date not null,
    delta_minor bigint not null,
    source_count bigint not null,
    fencing_token bigint not null,
    version_after bigint not null,
    total_after bigint not null,
    source_snapshot pg_snapshot not null,
    xid xid8 not null default pg_current_xact_id(),
    epoch integer not null default nightwriter.current_epoch(),
    worker text not null,
    applied_at timestamptz not null default now(),
    constraint ledger_entry_item unique (job_id, key, business_date, run_id),
    constraint ledger_entry_version unique (job_id, version_after, key)
  )`,
  `create trigger ledger_entry_append_only before update or delete or truncate on nightwriter.ledger_entry
    for each statement execute function nightwriter.refuse_change()`,
  `create table nightwriter.attempt (
    id bigint generated always as identity primary key,
    run_id bigint not null,
    business_date date not null,
    key text collate "C" not null,
    outcome text not null check (outcome in ('duplicate', 'fenced', 'conflict', 'withdrawn', 'unknown', 'parked')),
    reason text not null,
    sqlstate text,
    fencing_token bigint,
    worker text not null,
    attempted_at timestamptz not null default now()
  )`,
  `create index attempt_item on nightwriter.attempt (run_id, business_date, key)`,
  `create trigger attempt_append_only before update or delete or truncate on nightwriter.attempt
    for each statement execute function nightwriter.refuse_change()`,
];
