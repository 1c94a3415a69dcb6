-- The schema as the migrations make it, for people to read and for reviews: nothing is ever loaded from it.
-- Made by: pnpm vitest run --project service -u test/database/schema.test.ts

CREATE SCHEMA nightwriter;

CREATE SCHEMA sales;

CREATE FUNCTION nightwriter.current_epoch() RETURNS integer
    LANGUAGE plpgsql STABLE PARALLEL SAFE
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

CREATE FUNCTION nightwriter.partition_of(key text, partition_count integer) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ((((('x'::text || substr(md5(key), 1, 8)))::bit(32))::bigint % (partition_count)::bigint))::integer;

CREATE FUNCTION nightwriter.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  begin
    raise exception '% is append-only: % refused; record a new row that corrects it', tg_table_name, lower(tg_op)
      using errcode = 'restrict_violation';
  end $$;

CREATE AGGREGATE nightwriter.sum_minor(bigint) (
    SFUNC = int8pl,
    STYPE = bigint,
    COMBINEFUNC = int8pl,
    PARALLEL = safe
);

COMMENT ON AGGREGATE nightwriter.sum_minor(bigint) IS 'a sum that stays bigint and fails where it would overflow: twice as fast as sum() over many groups';

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
    attempted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT attempt_outcome_check CHECK ((outcome = ANY (ARRAY['duplicate'::text, 'fenced'::text, 'conflict'::text, 'withdrawn'::text, 'unknown'::text, 'parked'::text])))
);

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

CREATE TABLE nightwriter.epoch (
    epoch integer NOT NULL,
    system_identifier bigint NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE nightwriter.epoch IS 'one row for each time that this data moved into another cluster: transaction ids of different clusters cannot be compared';

CREATE TABLE nightwriter.job (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    partition_count integer NOT NULL,
    closed_through date,
    query_version integer DEFAULT 1 NOT NULL,
    fencing_token bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT job_name_check CHECK ((name ~ '^[a-z][a-z0-9-]{0,62}$'::text)),
    CONSTRAINT job_partition_count_check CHECK (((partition_count >= 1) AND (partition_count <= 1024)))
);

COMMENT ON COLUMN nightwriter.job.fencing_token IS 'the last token handed out: one counter for all partitions of the job';

ALTER TABLE nightwriter.job ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME nightwriter.job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE nightwriter.key_total (
    job_id integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    total_minor bigint DEFAULT 0 NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    fencing_token bigint DEFAULT 0 NOT NULL,
    paused_at timestamp with time zone
)
WITH (fillfactor='70');

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
    CONSTRAINT run_item_status_check CHECK ((status = ANY (ARRAY['due'::text, 'parked'::text, 'cancelled'::text])))
);

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

CREATE TABLE sales.import_file (
    id bigint NOT NULL,
    restaurant_id text COLLATE pg_catalog."C",
    content_hash text NOT NULL,
    byte_count bigint NOT NULL,
    line_count bigint NOT NULL,
    line_hashes text[] NOT NULL,
    name text NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    imported_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE sales.import_file IS 'each content that was imported whole: its hash over byte_count bytes; a file that grew has one row per length, all with one source';

COMMENT ON COLUMN sales.import_file.restaurant_id IS 'whose sales it has; null when a column of the file says so. Two restaurants may have files that say the same';

COMMENT ON COLUMN sales.import_file.line_hashes IS 'hashes over the header and 1, 2, 4, 8… lines: they tell an older or an edited copy of the file from another file';

ALTER TABLE sales.import_file ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME sales.import_file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
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
    CONSTRAINT restaurant_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT restaurant_id_check CHECK (((length(id) >= 1) AND (length(id) <= 200)))
);

CREATE TABLE sales.sale (
    restaurant_id text NOT NULL COLLATE pg_catalog."C",
    business_date date NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    source_line bigint NOT NULL,
    amount_minor bigint NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    epoch integer DEFAULT nightwriter.current_epoch() NOT NULL,
    CONSTRAINT sale_business_date_check CHECK (((business_date >= '1900-01-01'::date) AND (business_date <= '2199-12-31'::date)))
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='10000');

ALTER TABLE ONLY nightwriter.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (id);

ALTER TABLE ONLY nightwriter.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY nightwriter.epoch
    ADD CONSTRAINT epoch_pkey PRIMARY KEY (epoch);

ALTER TABLE ONLY nightwriter.job
    ADD CONSTRAINT job_name_key UNIQUE (name);

ALTER TABLE ONLY nightwriter.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);

ALTER TABLE ONLY nightwriter.key_total
    ADD CONSTRAINT key_total_pkey PRIMARY KEY (job_id, key);

ALTER TABLE ONLY nightwriter.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY nightwriter.ledger_entry
    ADD CONSTRAINT ledger_entry_item UNIQUE (job_id, business_date, key, run_id);

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

ALTER TABLE ONLY nightwriter.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (name);

ALTER TABLE ONLY sales.import_file
    ADD CONSTRAINT import_file_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sales.import_file
    ADD CONSTRAINT import_file_restaurant_id_content_hash_key UNIQUE NULLS NOT DISTINCT (restaurant_id, content_hash);

ALTER TABLE ONLY sales.opening_total
    ADD CONSTRAINT opening_total_pkey PRIMARY KEY (restaurant_id);

ALTER TABLE ONLY sales.restaurant
    ADD CONSTRAINT restaurant_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sales.sale
    ADD CONSTRAINT sale_pkey PRIMARY KEY (business_date, restaurant_id, source, source_line) INCLUDE (amount_minor);

CREATE INDEX attempt_item ON nightwriter.attempt USING btree (run_id, business_date, key);

CREATE INDEX audit_log_job ON nightwriter.audit_log USING btree (job_id, id);

CREATE INDEX run_item_withdrawn ON nightwriter.run_item USING btree (key, business_date) WHERE (status <> 'due'::text);

CREATE UNIQUE INDEX run_nightly ON nightwriter.run USING btree (job_id, business_date) WHERE (kind = 'nightly'::text);

CREATE UNIQUE INDEX run_request ON nightwriter.run USING btree (job_id, request_id) WHERE (kind <> 'nightly'::text);

CREATE INDEX run_unfinished ON nightwriter.run USING btree (job_id, id) WHERE (finished_at IS NULL);

CREATE INDEX opening_total_recorded ON sales.opening_total USING btree (epoch, xid);

CREATE INDEX sale_recorded ON sales.sale USING btree (epoch, xid);

CREATE TRIGGER attempt_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON nightwriter.attempt FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON nightwriter.audit_log FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER ledger_entry_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON nightwriter.ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER opening_total_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sales.opening_total FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

CREATE TRIGGER sale_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sales.sale FOR EACH STATEMENT EXECUTE FUNCTION nightwriter.refuse_change();

ALTER TABLE ONLY nightwriter.partition_term
    ADD CONSTRAINT partition_term_job_id_fkey FOREIGN KEY (job_id) REFERENCES nightwriter.job(id);

ALTER TABLE ONLY nightwriter.run
    ADD CONSTRAINT run_job_id_fkey FOREIGN KEY (job_id) REFERENCES nightwriter.job(id);

ALTER TABLE ONLY nightwriter.run
    ADD CONSTRAINT run_plan_epoch_fkey FOREIGN KEY (plan_epoch) REFERENCES nightwriter.epoch(epoch);

ALTER TABLE ONLY sales.opening_total
    ADD CONSTRAINT opening_total_restaurant_id_fkey FOREIGN KEY (restaurant_id) REFERENCES sales.restaurant(id);

ALTER TABLE ONLY sales.sale
    ADD CONSTRAINT sale_restaurant_id_fkey FOREIGN KEY (restaurant_id) REFERENCES sales.restaurant(id);
