/** Who changed what by hand, from where and why: insert-only, a row in the transaction of each change. */
export const audit: readonly string[] = [
  `create table nightwriter.audit_log (
    id bigint generated always as identity primary key,
    job_id integer,
    verb text not null,
    actor text not null,
    host text not null,
    database_role text not null default session_user,
    reason text,
    arguments jsonb not null default '{}',
    before jsonb,
    after jsonb,
    recorded_at timestamptz not null default clock_timestamp(),
    xid xid8 not null default pg_current_xact_id(),
    epoch integer not null default nightwriter.current_epoch()
  )`,
  `comment on column nightwriter.audit_log.job_id is 'null: the change is about no job of its own'`,
  `create index audit_log_job on nightwriter.audit_log (job_id, id)`,
  `create trigger audit_log_append_only before update or delete or truncate on nightwriter.audit_log
    for each statement execute function nightwriter.refuse_change()`,
  `revoke update, delete, truncate on nightwriter.audit_log from public`,
];
