-- The schema as the migrations make it, for people to read and for reviews: nothing is ever loaded from it.
-- Made by: pnpm vitest run --project service -u test/database/schema.test.ts

CREATE SCHEMA nightwriter;

CREATE SCHEMA sales;

CREATE FUNCTION nightwriter.current_epoch() RETURNS integer
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
  end $$;

CREATE FUNCTION nightwriter.fold_attempt() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
  end $$;

CREATE FUNCTION nightwriter.give_own_token() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
  end $$;

CREATE FUNCTION nightwriter.is_own_stamp(xid xid8, epoch integer, stamped text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
  begin
    if xid = pg_current_xact_id() and epoch = nightwriter.current_epoch() then
      perform set_config('nightwriter.stamped_epoch', epoch::text, true);
      return true;
    end if;
    raise exception '%: a row that carries the stamp of another transaction (xid %, epoch %) is refused; leave its columns xid and epoch out, their defaults stamp it',
      stamped, xid, epoch
      using errcode = 'check_violation', schema = (parse_ident(stamped))[1], table = (parse_ident(stamped))[2],
        constraint = (parse_ident(stamped))[2] || '_own_stamp',
        hint = format('A dump of the whole database keeps its stamps. To restore data without their schema: alter table %1$s drop constraint %2$I; restore; select nightwriter.require_stamps(%1$L).',
          stamped, (parse_ident(stamped))[2] || '_own_stamp');
  end $_$;

CREATE FUNCTION nightwriter.keep_ended_term() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      raise exception 'partition % of job %: a term is ended at isolation level read committed only, not at %; begin the transaction anew',
        old.partition, old.job_id, current_setting('transaction_isolation')
        using errcode = 'invalid_transaction_state';
    end if;
    insert into nightwriter.ended_term (job_id, partition, fencing_token, nonce, holder, since, ended_snapshot)
      values (old.job_id, old.partition, old.fencing_token, old.nonce, old.holder, old.since, pg_current_snapshot());
    return null;
  end $$;

CREATE FUNCTION nightwriter.park_items(for_job integer, for_partition integer, my_token bigint, my_nonce uuid, by_worker text, run_ids bigint[], business_dates date[], keys text[], reasons text[], sqlstates text[], causes text[]) RETURNS TABLE(item bigint, outcome text, stored_token bigint)
    LANGUAGE plpgsql
    AS $$
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
  end $$;

CREATE FUNCTION nightwriter.partition_of(key text, partition_count integer) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ((((('x'::text || substr(md5(key), 1, 8)))::bit(32))::bigint % (partition_count)::bigint))::integer;

CREATE FUNCTION nightwriter.raise_key_revision() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  begin
    new.revision := old.revision + 1;
    return new;
  end $$;

CREATE FUNCTION nightwriter.record_job_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  begin
    if tg_op = 'UPDATE' and new.query_version < old.query_version then
      raise exception 'job %: query version % is in force, % is behind it; the stored number only rises', old.name, old.query_version, new.query_version
        using errcode = 'restrict_violation';
    end if;
    insert into nightwriter.job_version (job_id, query_version, code_version)
      values (new.id, new.query_version, new.query_version) on conflict do nothing;
    return null;
  end $$;

CREATE FUNCTION nightwriter.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  begin
    raise exception '% is append-only: % refused; record a new row that corrects it', tg_table_name, lower(tg_op)
      using errcode = 'restrict_violation';
  end $$;

CREATE FUNCTION nightwriter.refuse_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  begin
    raise exception '%.%: % refused; its rows stay for good, since a total that is made anew is behind its ledger',
      tg_table_schema, tg_table_name, lower(tg_op)
      using errcode = 'restrict_violation';
  end $$;

CREATE FUNCTION nightwriter.refuse_job_version_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  begin
    if old.query_hash is null and (to_jsonb(new) - 'query_hash') = (to_jsonb(old) - 'query_hash') then return new; end if;
    raise exception 'job_version is append-only: only a hash that nobody knew is filled in, once'
      using errcode = 'restrict_violation';
  end $$;

CREATE FUNCTION nightwriter.require_stamps(stamped regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  declare
    named text := (select relname || '_own_stamp' from pg_class where oid = stamped);
  begin
    execute format('alter table %s drop constraint if exists %I', stamped, named);
    execute format(
      'alter table %s add constraint %I check (
        xid = pg_current_xact_id() and epoch::text = current_setting(''nightwriter.stamped_epoch'', true)
          or nightwriter.is_own_stamp(xid, epoch, %L)) not valid',
      stamped, named, stamped);
  end $$;

COMMENT ON FUNCTION nightwriter.require_stamps(stamped regclass) IS 'afterwards the table, which has the columns xid and epoch, takes only rows with the stamp of the transaction that writes them';

CREATE FUNCTION sales.await_imports() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  begin
    if current_setting('transaction_isolation') <> 'read committed' then
      raise exception 'restaurants are changed at read committed only, which sees what was recorded meanwhile; this is %',
        current_setting('transaction_isolation') using errcode = 'invalid_transaction_state';
    end if;
    perform pg_advisory_xact_lock(hashtext('nightwriter'), hashtext('sales.import'));
    return null;
  end $$;

CREATE FUNCTION sales.check_clock() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  begin
    if new.time_zone <> 'UTC' and not exists (select from pg_timezone_names where lower(name) = lower(new.time_zone)) then
      raise exception 'restaurant %: the time zone % is not known to this server; name one like Europe/London',
        new.restaurant_id, new.time_zone using errcode = 'invalid_parameter_value';
    end if;
    return new;
  end $$;

CREATE FUNCTION sales.check_time_zone() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
  end $_$;

CREATE FUNCTION sales.has_records(restaurant text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  declare
    day date := (select min(business_date) from sales.sale);
  begin
    if exists (select from sales.opening_total where restaurant_id = restaurant) then return true; end if;
    while day is not null loop
      if exists (select from sales.sale where business_date = day and restaurant_id = restaurant) then return true; end if;
      day := (select min(business_date) from sales.sale where business_date > day);
    end loop;
    return false;
  end $$;

CREATE FUNCTION sales.keep_dates() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
  end $$;

CREATE FUNCTION sales.keep_meaning() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
  end $_$;

CREATE AGGREGATE nightwriter.sum_minor(bigint) (
    SFUNC = int8pl,
    STYPE = bigint,
    COMBINEFUNC = int8pl,
    PARALLEL = safe
);

COMMENT ON AGGREGATE nightwriter.sum_minor(bigint) IS 'a sum that stays bigint and fails where it would overflow: twice as fast as sum() over many groups';

CREATE TABLE nightwriter.acknowledgement (
    id bigint NOT NULL,
    job_id integer NOT NULL,
    finding text NOT NULL COLLATE pg_catalog."C",
    rule text NOT NULL,
    measure text NOT NULL,
    key text COLLATE pg_catalog."C",
    business_date date,
    run_id bigint,
    version bigint,
    expected numeric,
    actual numeric,
    is_withdrawn boolean DEFAULT false NOT NULL,
    reason text NOT NULL,
    actor text NOT NULL,
    acknowledged_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    epoch integer DEFAULT nightwriter.current_epoch() NOT NULL,
    CONSTRAINT acknowledgement_reason_check CHECK ((reason ~ '[^[:space:]]'::text))
);

COMMENT ON COLUMN nightwriter.acknowledgement.finding IS 'the id that verify gives it: a hash of rule to actual';

COMMENT ON COLUMN nightwriter.acknowledgement.is_withdrawn IS 'the acknowledgement of this finding is taken back';

ALTER TABLE nightwriter.acknowledgement ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME nightwriter.acknowledgement_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE nightwriter.attempt (
    id bigint NOT NULL,
    run_id bigint NOT NULL,
    business_date date NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL,
    reason text NOT NULL,
    sqlstate text,
    fencing_token bigint,
    worker text NOT NULL,
    count bigint DEFAULT 1 NOT NULL,
    first_at timestamp with time zone DEFAULT now() NOT NULL,
    last_at timestamp with time zone DEFAULT now() NOT NULL,
    attempted_at timestamp with time zone GENERATED ALWAYS AS (last_at) STORED,
    CONSTRAINT attempt_count_check CHECK ((count >= 1)),
    CONSTRAINT attempt_outcome_check CHECK ((outcome = ANY (ARRAY['duplicate'::text, 'fenced'::text, 'conflict'::text, 'withdrawn'::text, 'unknown'::text, 'failing'::text, 'parked'::text])))
)
WITH (fillfactor='70');

COMMENT ON COLUMN nightwriter.attempt.id IS 'read by the builds before this schema only, like attempted_at';

COMMENT ON COLUMN nightwriter.attempt.reason IS 'of the last try, like sqlstate and fencing_token';

COMMENT ON COLUMN nightwriter.attempt.worker IS 'the holder that tried: each has a row of its own';

ALTER TABLE nightwriter.attempt ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME nightwriter.attempt_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE nightwriter.audit_log (
    id bigint NOT NULL,
    job_id integer,
    verb text NOT NULL,
    actor text NOT NULL,
    host text NOT NULL,
    database_role text DEFAULT SESSION_USER NOT NULL,
    reason text,
    arguments jsonb DEFAULT '{}'::jsonb NOT NULL,
    before jsonb,
    after jsonb,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    epoch integer DEFAULT nightwriter.current_epoch() NOT NULL
);

COMMENT ON COLUMN nightwriter.audit_log.job_id IS 'null: the change is about no job of its own';

ALTER TABLE nightwriter.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME nightwriter.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE nightwriter.claim (
    prefix text NOT NULL COLLATE pg_catalog."C",
    place text NOT NULL COLLATE pg_catalog."C",
    claim text NOT NULL
);

COMMENT ON TABLE nightwriter.claim IS 'whose leases under a prefix are kept in this database; one that a copy has brought along bears another place';

CREATE TABLE nightwriter.ended_term (
    id bigint NOT NULL,
    job_id integer NOT NULL,
    partition integer NOT NULL,
    fencing_token bigint NOT NULL,
    nonce uuid NOT NULL,
    holder text NOT NULL,
    since timestamp with time zone NOT NULL,
    ended_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_snapshot pg_snapshot NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    epoch integer DEFAULT nightwriter.current_epoch() NOT NULL
);

COMMENT ON COLUMN nightwriter.ended_term.ended_snapshot IS 'taken when the row of the term was locked: every write of the term had ended by then and is visible in it';

ALTER TABLE nightwriter.ended_term ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME nightwriter.ended_term_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE nightwriter.epoch (
    epoch integer NOT NULL,
    system_identifier bigint NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    installation uuid DEFAULT gen_random_uuid() NOT NULL
);

COMMENT ON TABLE nightwriter.epoch IS 'one row for each time that this data moved into another cluster: transaction ids of different clusters cannot be compared';

COMMENT ON COLUMN nightwriter.epoch.installation IS 'drawn anew with each epoch: what this data calls itself in a store that it shares with others';

CREATE TABLE nightwriter.job (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    partition_count integer NOT NULL,
    closed_through date,
    query_version integer DEFAULT 1 NOT NULL,
    fencing_token bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_terms_after bigint DEFAULT 0 NOT NULL,
    CONSTRAINT job_name_check CHECK ((name ~ '^[a-z][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT job_partition_count_check CHECK (((partition_count >= 1) AND (partition_count <= 1024)))
);

COMMENT ON COLUMN nightwriter.job.fencing_token IS 'the last token handed out: one counter for all partitions of the job';

COMMENT ON COLUMN nightwriter.job.ended_terms_after IS 'terms with a larger token than this one are kept in ended_term when they end; of earlier ones nothing may be known';

ALTER TABLE nightwriter.job ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME nightwriter.job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE nightwriter.job_version (
    job_id integer NOT NULL,
    query_version integer NOT NULL,
    code_version integer NOT NULL,
    query_hash text,
    brought_by text DEFAULT current_setting('application_name'::text) NOT NULL,
    database_role text DEFAULT SESSION_USER NOT NULL,
    reason text,
    brought_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT job_version_code_version_check CHECK ((code_version >= 1)),
    CONSTRAINT job_version_query_hash_check CHECK ((query_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT job_version_query_version_check CHECK ((query_version >= 1))
);

COMMENT ON COLUMN nightwriter.job_version.query_version IS 'the stored number, which only rises: entries carry it';

COMMENT ON COLUMN nightwriter.job_version.code_version IS 'what the code calls the query';

COMMENT ON COLUMN nightwriter.job_version.query_hash IS 'null: a build that knew no hashes brought it in; the first process that calls its query by that number says which it is';

CREATE TABLE nightwriter.key_total (
    job_id integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    total_minor bigint DEFAULT 0 NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    fencing_token bigint DEFAULT 0 NOT NULL,
    paused_at timestamp with time zone,
    revision bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');

COMMENT ON COLUMN nightwriter.key_total.revision IS 'rises with each pause and each resumption, whoever does it';

CREATE TABLE nightwriter.lease (
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL,
    nonce uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

COMMENT ON TABLE nightwriter.lease IS 'a store of leases like any other: it saves work and proves nothing. By the clock of this server alone';

CREATE TABLE nightwriter.ledger_entry (
    job_id integer NOT NULL,
    run_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    business_date date NOT NULL,
    delta_minor bigint NOT NULL,
    source_count bigint NOT NULL,
    fencing_token bigint NOT NULL,
    version_after bigint NOT NULL,
    total_after bigint NOT NULL,
    source_snapshot pg_snapshot NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    epoch integer DEFAULT nightwriter.current_epoch() NOT NULL,
    worker text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    query_version integer DEFAULT 1 NOT NULL,
    CONSTRAINT ledger_entry_query_version_check CHECK ((query_version >= 1))
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='10000');

CREATE TABLE nightwriter.migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);

CREATE TABLE nightwriter.migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);

CREATE TABLE nightwriter.partition_term (
    job_id integer NOT NULL,
    partition integer NOT NULL,
    fencing_token bigint NOT NULL,
    nonce uuid DEFAULT gen_random_uuid() NOT NULL,
    holder text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    sealed_at timestamp with time zone,
    CONSTRAINT partition_term_partition_check CHECK ((partition >= 0))
);

COMMENT ON COLUMN nightwriter.partition_term.sealed_at IS 'when its holder ended the term in good order, all of its writes answered; null while it lasts, and if the holder vanished';

CREATE TABLE nightwriter.run (
    id bigint NOT NULL,
    job_id integer NOT NULL,
    business_date date NOT NULL,
    kind text NOT NULL,
    request_id text COLLATE pg_catalog."C",
    request_digest text,
    revision bigint DEFAULT 0 NOT NULL,
    plan_snapshot pg_snapshot,
    plan_epoch integer,
    plan_overlaps bigint[],
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    planned_at timestamp with time zone,
    finished_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    CONSTRAINT run_check CHECK (((kind = 'nightly'::text) = (request_id IS NULL))),
    CONSTRAINT run_check1 CHECK (((plan_snapshot IS NULL) = (plan_epoch IS NULL))),
    CONSTRAINT run_kind_check CHECK ((kind = ANY (ARRAY['nightly'::text, 'manual'::text, 'rerun'::text, 'backfill'::text, 'opening'::text])))
);

COMMENT ON COLUMN nightwriter.run.plan_overlaps IS 'runs that were unfinished when this one was planned: what they applied afterwards may have been summed before';

ALTER TABLE nightwriter.run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME nightwriter.run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE nightwriter.run_item (
    run_id bigint NOT NULL,
    business_date date NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    partition integer NOT NULL,
    status text DEFAULT 'due'::text NOT NULL,
    generation integer DEFAULT 0 NOT NULL,
    parked_for text,
    CONSTRAINT run_item_status_check CHECK ((status = ANY (ARRAY['due'::text, 'parked'::text, 'cancelled'::text])))
);

COMMENT ON COLUMN nightwriter.run_item.parked_for IS 'SQLSTATE or kind of damage that it was parked for last; null: never, or by hand';

CREATE TABLE nightwriter.scheduler (
    name text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL,
    pid integer NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    left_at timestamp with time zone,
    leads boolean DEFAULT false NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    clock_ahead_ms double precision DEFAULT 0 NOT NULL,
    hindrance text
)
WITH (fillfactor='50');

COMMENT ON COLUMN nightwriter.scheduler.since IS 'since when it leads, or stands by';

COMMENT ON COLUMN nightwriter.scheduler.hindrance IS 'why it must not lead; null: nothing is in the way';

CREATE TABLE nightwriter.worker (
    name text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL,
    pid integer NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    left_at timestamp with time zone,
    refused_writes bigint DEFAULT 0 NOT NULL,
    last_entries jsonb DEFAULT '{}'::jsonb NOT NULL
)
WITH (fillfactor='50');

COMMENT ON COLUMN nightwriter.worker.last_entries IS 'job name and partition ("restaurant-totals/7") to when this worker last applied an entry there';

CREATE TABLE sales.identity (
    hash uuid NOT NULL,
    import_id bigint NOT NULL,
    restaurant_id text NOT NULL COLLATE pg_catalog."C",
    business_date date,
    amount_minor bigint,
    first_date date,
    first_source text COLLATE pg_catalog."C",
    first_line bigint,
    CONSTRAINT identity_check CHECK ((num_nulls(business_date, amount_minor, first_date, first_source, first_line) = ANY (ARRAY[0, 5])))
);

COMMENT ON TABLE sales.identity IS 'a sale that its export gives an id: what each import made of it. The last import''s holds; without an amount it is taken back';

COMMENT ON COLUMN sales.identity.hash IS 'the first 128 bits of SHA-256 over restaurant, feed and the parts of the id';

CREATE TABLE sales.import (
    id bigint NOT NULL,
    undoes bigint,
    continues bigint,
    restaurant_id text COLLATE pg_catalog."C",
    feed text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    first_line bigint DEFAULT 1 NOT NULL,
    last_line bigint DEFAULT '9223372036854775807'::bigint NOT NULL,
    content_hash text,
    byte_count bigint,
    line_count bigint,
    line_hashes text[] DEFAULT '{}'::text[] NOT NULL,
    ends_line boolean DEFAULT true NOT NULL,
    bad_lines bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    good_hash text,
    skip_file text,
    reading jsonb,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    kept bigint DEFAULT 0 NOT NULL,
    added bigint DEFAULT 0 NOT NULL,
    known bigint DEFAULT 0 NOT NULL,
    corrected bigint DEFAULT 0 NOT NULL,
    taken_back bigint DEFAULT 0 NOT NULL,
    left_out bigint DEFAULT 0 NOT NULL,
    seen_values jsonb DEFAULT '{}'::jsonb NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    sums jsonb DEFAULT '{}'::jsonb NOT NULL,
    first_date date,
    last_date date,
    newest timestamp without time zone,
    actor text,
    host text,
    reason text,
    imported_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT import_check CHECK (((undoes IS NULL) = (content_hash IS NOT NULL)))
);

COMMENT ON TABLE sales.import IS 'each import of a file, and each undo of one: its rows in sales.sale are those of its source from first_line to last_line';

COMMENT ON COLUMN sales.import.continues IS 'its content begins with that import''s, which was grown or mended since: what that one recorded of it, it did not';

COMMENT ON COLUMN sales.import.restaurant_id IS 'whose sales it has; null when a column of the file says so. Two restaurants may have files that say the same';

COMMENT ON COLUMN sales.import.feed IS 'where ids and files come from, if one restaurant has several: a till, a platform';

COMMENT ON COLUMN sales.import.line_hashes IS 'hashes over the header and 1, 2, 4, 8… lines: they tell an older or an edited copy of the file from another file';

COMMENT ON COLUMN sales.import.ends_line IS 'false: the last line had no line feed and may be half of a line';

COMMENT ON COLUMN sales.import.good_hash IS 'the hash of the content without the lines of bad_lines, which may be mended';

COMMENT ON COLUMN sales.import.skip_file IS 'where the bad lines were written to';

COMMENT ON COLUMN sales.import.reading IS 'the options that decide which sales the lines of its content are; null: not noted, by an older build';

COMMENT ON COLUMN sales.import.seen_values IS 'the values that --only and --except named and lines had, by column';

COMMENT ON COLUMN sales.import.newest IS 'the latest local time of its sales, or the latest date at 00:00';

ALTER TABLE sales.import ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sales.import_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE sales.import_need (
    import_id bigint NOT NULL,
    needs_id bigint NOT NULL
);

COMMENT ON TABLE sales.import_need IS 'a later import knew or corrected a sale of an earlier one, or continues its file: that one is undone after it';

CREATE TABLE sales.migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);

CREATE TABLE sales.migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);

CREATE TABLE sales.opening_total (
    restaurant_id text NOT NULL COLLATE pg_catalog."C",
    business_date date NOT NULL,
    amount_minor bigint NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    epoch integer DEFAULT nightwriter.current_epoch() NOT NULL,
    CONSTRAINT opening_total_business_date_check CHECK (((business_date >= '1900-01-01'::date) AND (business_date <= '2199-12-31'::date)))
);

CREATE TABLE sales.restaurant (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    time_zone text NOT NULL,
    cutoff time without time zone DEFAULT '00:00:00'::time without time zone NOT NULL,
    currency text NOT NULL,
    active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    closed_since date,
    CONSTRAINT restaurant_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT restaurant_id_check CHECK (((length(id) >= 1) AND (length(id) <= 200)))
);

COMMENT ON COLUMN sales.restaurant.closed_since IS 'sales of this business date and later are refused';

CREATE TABLE sales.restaurant_clock (
    restaurant_id text NOT NULL COLLATE pg_catalog."C",
    from_date date NOT NULL,
    time_zone text NOT NULL,
    cutoff time without time zone NOT NULL,
    CONSTRAINT restaurant_clock_from_date_check CHECK (((from_date >= '1900-01-01'::date) AND (from_date <= '2199-12-31'::date)))
);

COMMENT ON TABLE sales.restaurant_clock IS 'the zone and cutoff that tell business dates from from_date on; before the first one, those of the restaurant';

CREATE TABLE sales.sale (
    restaurant_id text NOT NULL COLLATE pg_catalog."C",
    business_date date NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    source_line bigint NOT NULL,
    amount_minor bigint NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    epoch integer DEFAULT nightwriter.current_epoch() NOT NULL,
    local_time timestamp without time zone,
    first_date date,
    first_source text COLLATE pg_catalog."C",
    first_line bigint,
    CONSTRAINT sale_business_date_check CHECK (((business_date >= '1900-01-01'::date) AND (business_date <= '2199-12-31'::date)))
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='10000');

COMMENT ON COLUMN sales.sale.local_time IS 'on the restaurant''s wall clock, where the file says it';

COMMENT ON COLUMN sales.sale.first_source IS 'with first_date and first_line: the sale that this row corrects, takes back or reverses. Null: a sale of its own';

ALTER TABLE nightwriter.acknowledgement
    ADD CONSTRAINT acknowledgement_own_stamp CHECK ((((xid = pg_current_xact_id()) AND ((epoch)::text = current_setting('nightwriter.stamped_epoch'::text, true))) OR nightwriter.is_own_stamp(xid, epoch, 'nightwriter.acknowledgement'::text))) NOT VALID;

ALTER TABLE ONLY nightwriter.acknowledgement
    ADD CONSTRAINT acknowledgement_pkey PRIMARY KEY (id);

ALTER TABLE ONLY nightwriter.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (run_id, business_date, key, outcome, worker);

ALTER TABLE nightwriter.audit_log
    ADD CONSTRAINT audit_log_own_stamp CHECK ((((xid = pg_current_xact_id()) AND ((epoch)::text = current_setting('nightwriter.stamped_epoch'::text, true))) OR nightwriter.is_own_stamp(xid, epoch, 'nightwriter.audit_log'::text))) NOT VALID;

ALTER TABLE ONLY nightwriter.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY nightwriter.claim
    ADD CONSTRAINT claim_pkey PRIMARY KEY (prefix, place);

ALTER TABLE nightwriter.ended_term
    ADD CONSTRAINT ended_term_own_stamp CHECK ((((xid = pg_current_xact_id()) AND ((epoch)::text = current_setting('nightwriter.stamped_epoch'::text, true))) OR nightwriter.is_own_stamp(xid, epoch, 'nightwriter.ended_term'::text))) NOT VALID;

ALTER TABLE ONLY nightwriter.ended_term
    ADD CONSTRAINT ended_term_pkey PRIMARY KEY (id);

ALTER TABLE ONLY nightwriter.epoch
    ADD CONSTRAINT epoch_pkey PRIMARY KEY (epoch);

ALTER TABLE ONLY nightwriter.job
    ADD CONSTRAINT job_name_key UNIQUE (name);

ALTER TABLE ONLY nightwriter.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);

ALTER TABLE ONLY nightwriter.job_version
    ADD CONSTRAINT job_version_pkey PRIMARY KEY (job_id, query_version);

ALTER TABLE ONLY nightwriter.key_total
    ADD CONSTRAINT key_total_pkey PRIMARY KEY (job_id, key);

ALTER TABLE ONLY nightwriter.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY nightwriter.ledger_entry
    ADD CONSTRAINT ledger_entry_item UNIQUE (job_id, business_date, key, run_id);

ALTER TABLE nightwriter.ledger_entry
    ADD CONSTRAINT ledger_entry_own_stamp CHECK ((((xid = pg_current_xact_id()) AND ((epoch)::text = current_setting('nightwriter.stamped_epoch'::text, true))) OR nightwriter.is_own_stamp(xid, epoch, 'nightwriter.ledger_entry'::text))) NOT VALID;

ALTER TABLE ONLY nightwriter.ledger_entry
    ADD CONSTRAINT ledger_entry_version UNIQUE (job_id, version_after, key);

ALTER TABLE ONLY nightwriter.migration_lock
    ADD CONSTRAINT migration_lock_pkey PRIMARY KEY (id);

ALTER TABLE ONLY nightwriter.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (name);

ALTER TABLE ONLY nightwriter.partition_term
    ADD CONSTRAINT partition_term_pkey PRIMARY KEY (job_id, partition);

ALTER TABLE ONLY nightwriter.run_item
    ADD CONSTRAINT run_item_pkey PRIMARY KEY (run_id, business_date, key);

ALTER TABLE ONLY nightwriter.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY nightwriter.scheduler
    ADD CONSTRAINT scheduler_pkey PRIMARY KEY (name);

ALTER TABLE ONLY nightwriter.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (name);

ALTER TABLE ONLY sales.identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (hash, import_id);

ALTER TABLE ONLY sales.import_need
    ADD CONSTRAINT import_need_pkey PRIMARY KEY (needs_id, import_id);

ALTER TABLE ONLY sales.import
    ADD CONSTRAINT import_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sales.import
    ADD CONSTRAINT import_undoes_key UNIQUE (undoes);

ALTER TABLE ONLY sales.migration_lock
    ADD CONSTRAINT migration_lock_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sales.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (name);

ALTER TABLE sales.opening_total
    ADD CONSTRAINT opening_total_own_stamp CHECK ((((xid = pg_current_xact_id()) AND ((epoch)::text = current_setting('nightwriter.stamped_epoch'::text, true))) OR nightwriter.is_own_stamp(xid, epoch, 'sales.opening_total'::text))) NOT VALID;

ALTER TABLE ONLY sales.opening_total
    ADD CONSTRAINT opening_total_pkey PRIMARY KEY (restaurant_id);

ALTER TABLE ONLY sales.restaurant_clock
    ADD CONSTRAINT restaurant_clock_pkey PRIMARY KEY (restaurant_id, from_date);

ALTER TABLE ONLY sales.restaurant
    ADD CONSTRAINT restaurant_pkey PRIMARY KEY (id);

ALTER TABLE sales.sale
    ADD CONSTRAINT sale_first_check CHECK ((num_nulls(first_date, first_source, first_line) = ANY (ARRAY[0, 3]))) NOT VALID;

ALTER TABLE sales.sale
    ADD CONSTRAINT sale_own_stamp CHECK ((((xid = pg_current_xact_id()) AND ((epoch)::text = current_setting('nightwriter.stamped_epoch'::text, true))) OR nightwriter.is_own_stamp(xid, epoch, 'sales.sale'::text))) NOT VALID;

ALTER TABLE ONLY sales.sale
    ADD CONSTRAINT sale_pkey PRIMARY KEY (business_date, restaurant_id, source, source_line) INCLUDE (amount_minor);

CREATE INDEX acknowledgement_finding ON nightwriter.acknowledgement USING btree (job_id, finding, id);

CREATE INDEX audit_log_job ON nightwriter.audit_log USING btree (job_id, id);

CREATE INDEX ended_term_token ON nightwriter.ended_term USING btree (job_id, fencing_token);

CREATE INDEX run_item_parked ON nightwriter.run_item USING btree (run_id, parked_for) WHERE (status = 'parked'::text);

CREATE INDEX run_item_withdrawn ON nightwriter.run_item USING btree (key, business_date) WHERE (status <> 'due'::text);

CREATE UNIQUE INDEX run_nightly ON nightwriter.run USING btree (job_id, business_date) WHERE (kind = 'nightly'::text);

CREATE UNIQUE INDEX run_request ON nightwriter.run USING btree (job_id, request_id) WHERE (kind <> 'nightly'::text);

CREATE INDEX run_unfinished ON nightwriter.run USING btree (job_id, id) WHERE (finished_at IS NULL);

CREATE INDEX identity_first ON sales.identity USING btree (first_date, first_source, first_line);

CREATE INDEX import_content ON sales.import USING btree (content_hash);

CREATE INDEX import_source ON sales.import USING btree (source);

CREATE INDEX opening_total_recorded ON sales.opening_total USING btree (epoch, xid);

CREATE INDEX sale_corrects ON sales.sale USING btree (first_date, first_source, first_line) WHERE (first_source IS NOT NULL);

CREATE INDEX sale_recorded ON sales.sale USING btree (epoch, xid);

CREATE TRIGGER acknowledgement_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON nightwriter.acknowledgement FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER attempt_folded BEFORE INSERT ON nightwriter.attempt FOR EACH ROW WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION nightwriter.fold_attempt();

CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON nightwriter.audit_log FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER ended_term_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON nightwriter.ended_term FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER job_version_append_only BEFORE DELETE OR TRUNCATE ON nightwriter.job_version FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER job_version_kept BEFORE UPDATE ON nightwriter.job_version FOR EACH ROW EXECUTE FUNCTION nightwriter.refuse_job_version_change();

CREATE TRIGGER job_version_recorded AFTER INSERT OR UPDATE OF query_version ON nightwriter.job FOR EACH ROW EXECUTE FUNCTION nightwriter.record_job_version();

CREATE TRIGGER key_total_revised BEFORE UPDATE OF paused_at ON nightwriter.key_total FOR EACH ROW WHEN ((old.paused_at IS DISTINCT FROM new.paused_at)) EXECUTE FUNCTION nightwriter.raise_key_revision();

CREATE TRIGGER key_total_stays BEFORE DELETE OR TRUNCATE ON nightwriter.key_total FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_delete();

CREATE TRIGGER ledger_entry_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON nightwriter.ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER partition_term_kept BEFORE TRUNCATE ON nightwriter.partition_term FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER partition_term_next_token BEFORE UPDATE ON nightwriter.partition_term FOR EACH ROW WHEN (((((old.job_id IS DISTINCT FROM new.job_id) OR (old.partition IS DISTINCT FROM new.partition)) OR (old.fencing_token IS DISTINCT FROM new.fencing_token)) OR (old.nonce IS DISTINCT FROM new.nonce))) EXECUTE FUNCTION nightwriter.give_own_token();

CREATE TRIGGER partition_term_own_token BEFORE INSERT ON nightwriter.partition_term FOR EACH ROW EXECUTE FUNCTION nightwriter.give_own_token();

CREATE TRIGGER partition_term_removed AFTER DELETE ON nightwriter.partition_term FOR EACH ROW EXECUTE FUNCTION nightwriter.keep_ended_term();

CREATE TRIGGER partition_term_replaced AFTER UPDATE ON nightwriter.partition_term FOR EACH ROW WHEN (((((old.job_id IS DISTINCT FROM new.job_id) OR (old.partition IS DISTINCT FROM new.partition)) OR (old.fencing_token IS DISTINCT FROM new.fencing_token)) OR (old.nonce IS DISTINCT FROM new.nonce))) EXECUTE FUNCTION nightwriter.keep_ended_term();

CREATE TRIGGER identity_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sales.identity FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER import_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sales.import FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER import_need_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sales.import_need FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER opening_total_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sales.opening_total FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER restaurant_awaits_imports BEFORE DELETE OR UPDATE OF id, currency, time_zone, cutoff ON sales.restaurant FOR EACH STATEMENT EXECUTE FUNCTION sales.await_imports();

CREATE TRIGGER restaurant_clock_awaits_imports BEFORE INSERT OR DELETE OR UPDATE ON sales.restaurant_clock FOR EACH STATEMENT EXECUTE FUNCTION sales.await_imports();

CREATE TRIGGER restaurant_clock_keeps_dates BEFORE INSERT OR DELETE OR UPDATE ON sales.restaurant_clock FOR EACH ROW EXECUTE FUNCTION sales.keep_dates();

CREATE TRIGGER restaurant_clock_time_zone BEFORE INSERT OR UPDATE OF time_zone ON sales.restaurant_clock FOR EACH ROW EXECUTE FUNCTION sales.check_clock();

CREATE TRIGGER restaurant_is_kept BEFORE DELETE ON sales.restaurant FOR EACH ROW EXECUTE FUNCTION sales.keep_meaning();

CREATE TRIGGER restaurant_keeps_meaning BEFORE UPDATE OF id, currency, time_zone, cutoff ON sales.restaurant FOR EACH ROW WHEN (((((new.id IS DISTINCT FROM old.id) OR (new.currency IS DISTINCT FROM old.currency)) OR (new.time_zone IS DISTINCT FROM old.time_zone)) OR (new.cutoff IS DISTINCT FROM old.cutoff))) EXECUTE FUNCTION sales.keep_meaning();

CREATE TRIGGER restaurant_time_zone BEFORE INSERT OR UPDATE OF time_zone ON sales.restaurant FOR EACH ROW EXECUTE FUNCTION sales.check_time_zone();

CREATE TRIGGER sale_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sales.sale FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

ALTER TABLE ONLY nightwriter.job_version
    ADD CONSTRAINT job_version_job_id_fkey FOREIGN KEY (job_id) REFERENCES nightwriter.job(id);

ALTER TABLE ONLY nightwriter.partition_term
    ADD CONSTRAINT partition_term_job_id_fkey FOREIGN KEY (job_id) REFERENCES nightwriter.job(id);

ALTER TABLE ONLY nightwriter.run
    ADD CONSTRAINT run_job_id_fkey FOREIGN KEY (job_id) REFERENCES nightwriter.job(id);

ALTER TABLE ONLY nightwriter.run
    ADD CONSTRAINT run_plan_epoch_fkey FOREIGN KEY (plan_epoch) REFERENCES nightwriter.epoch(epoch);

ALTER TABLE ONLY sales.import
    ADD CONSTRAINT import_continues_fkey FOREIGN KEY (continues) REFERENCES sales.import(id);

ALTER TABLE ONLY sales.import_need
    ADD CONSTRAINT import_need_import_id_fkey FOREIGN KEY (import_id) REFERENCES sales.import(id);

ALTER TABLE ONLY sales.import_need
    ADD CONSTRAINT import_need_needs_id_fkey FOREIGN KEY (needs_id) REFERENCES sales.import(id);

ALTER TABLE ONLY sales.import
    ADD CONSTRAINT import_undoes_fkey FOREIGN KEY (undoes) REFERENCES sales.import(id);

ALTER TABLE ONLY sales.opening_total
    ADD CONSTRAINT opening_total_restaurant_id_fkey FOREIGN KEY (restaurant_id) REFERENCES sales.restaurant(id);

ALTER TABLE ONLY sales.restaurant_clock
    ADD CONSTRAINT restaurant_clock_restaurant_id_fkey FOREIGN KEY (restaurant_id) REFERENCES sales.restaurant(id);

ALTER TABLE ONLY sales.sale
    ADD CONSTRAINT sale_restaurant_id_fkey FOREIGN KEY (restaurant_id) REFERENCES sales.restaurant(id);

REVOKE ALL ON FUNCTION nightwriter.give_own_token() FROM PUBLIC;

REVOKE ALL ON FUNCTION nightwriter.keep_ended_term() FROM PUBLIC;
