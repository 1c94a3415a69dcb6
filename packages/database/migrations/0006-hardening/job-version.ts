/**
 * Which source query was in force when: `job.query_version` is the number in force, and each number has its row here. The
 * triggers keep the two together whoever moves the number, also a build that knows nothing of this table.
 */
export const jobVersion: readonly string[] = [
  `create table nightwriter.job_version (
    job_id integer not null references nightwriter.job,
    query_version integer not null check (query_version >= 1),
    code_version integer not null check (code_version >= 1),
    query_hash text check (query_hash ~ '^[0-9a-f]{64}$'),
    brought_by text not null default current_setting('application_name'),
    database_role text not null default session_user,
    reason text,
    brought_at timestamptz not null default clock_timestamp(),
    primary key (job_id, query_version)
  )`,
  `comment on column nightwriter.job_version.query_version is 'the stored number, which only rises: entries carry it'`,
  `comment on column nightwriter.job_version.code_version is 'what the code calls the query'`,
  `comment on column nightwriter.job_version.query_hash is
    'null: a build that knew no hashes brought it in; the first process that calls its query by that number says which it is'`,
  `insert into nightwriter.job_version (job_id, query_version, code_version, brought_by, reason)
    select id, query_version, query_version, 'migration', 'in force before versions were kept' from nightwriter.job`,
  `create function nightwriter.record_job_version() returns trigger language plpgsql as $$
  begin
    if tg_op = 'UPDATE' and new.query_version < old.query_version then
      raise exception 'job %: query version % is in force, % is behind it; the stored number only rises', old.name, old.query_version, new.query_version
        using errcode = 'restrict_violation';
    end if;
    insert into nightwriter.job_version (job_id, query_version, code_version)
      values (new.id, new.query_version, new.query_version) on conflict do nothing;
    return null;
  end $$`,
  `create trigger job_version_recorded after insert or update of query_version on nightwriter.job
    for each row execute function nightwriter.record_job_version()`,
  `create function nightwriter.refuse_job_version_change() returns trigger language plpgsql as $$
  begin
    if old.query_hash is null and (to_jsonb(new) - 'query_hash') = (to_jsonb(old) - 'query_hash') then return new; end if;
    raise exception 'job_version is append-only: only a hash that nobody knew is filled in, once'
      using errcode = 'restrict_violation';
  end $$`,
  `create trigger job_version_kept before update on nightwriter.job_version
    for each row execute function nightwriter.refuse_job_version_change()`,
  `create trigger job_version_append_only before delete or truncate on nightwriter.job_version
    for each statement execute function nightwriter.refuse_change()`,
];
