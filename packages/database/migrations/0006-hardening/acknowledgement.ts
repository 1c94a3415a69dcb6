/**
 * Findings of verify that somebody looked into. What is acknowledged is one finding as it stands, number by number; the last row of
 * a finding holds, so that an acknowledgement is taken back by another row and never by a change.
 */
export const acknowledgement: readonly string[] = [
  `create table nightwriter.acknowledgement (
    id bigint generated always as identity primary key,
    job_id integer not null,
    finding text collate "C" not null,
    rule text not null,
    measure text not null,
    key text collate "C",
    business_date date,
    run_id bigint,
    version bigint,
    expected numeric,
    actual numeric,
    is_withdrawn boolean not null default false,
    reason text not null check (reason ~ '[^[:space:]]'),
    actor text not null,
    acknowledged_at timestamptz not null default clock_timestamp(),
    xid xid8 not null default pg_current_xact_id(),
    epoch integer not null default nightwriter.current_epoch()
  )`,
  `comment on column nightwriter.acknowledgement.finding is 'the id that verify gives it: a hash of rule to actual'`,
  `comment on column nightwriter.acknowledgement.is_withdrawn is 'the acknowledgement of this finding is taken back'`,
  `create index acknowledgement_finding on nightwriter.acknowledgement (job_id, finding, id)`,
  `create trigger acknowledgement_append_only before update or delete or truncate on nightwriter.acknowledgement
    for each statement execute function nightwriter.refuse_change()`,
  `revoke update, delete, truncate on nightwriter.acknowledgement from public`,
];
