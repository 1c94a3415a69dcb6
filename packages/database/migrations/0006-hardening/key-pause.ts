/** How often a key was paused and resumed, so that both between two looks do not pass for nothing. */
export const keyPause: readonly string[] = [
  `alter table nightwriter.key_total add column revision bigint not null default 0`,
  `comment on column nightwriter.key_total.revision is 'rises with each pause and each resumption, whoever does it'`,
  `create function nightwriter.raise_key_revision() returns trigger language plpgsql as $$
  begin
    new.revision := old.revision + 1;
    return new;
  end $$`,
  `create trigger key_total_revised before update of paused_at on nightwriter.key_total
    for each row when (old.paused_at is distinct from new.paused_at) execute function nightwriter.raise_key_revision()`,
];
