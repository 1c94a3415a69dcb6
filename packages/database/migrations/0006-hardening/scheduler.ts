/** Schedulers say that they live in a table of their own: earlier builds share partitions among the rows of the workers' one. */
export const scheduler: readonly string[] = [
  `create table nightwriter.scheduler (
    name text collate "C" primary key,
    host text not null,
    pid integer not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now(),
    left_at timestamptz,
    leads boolean not null default false,
    since timestamptz not null default now(),
    clock_ahead_ms double precision not null default 0,
    hindrance text
  ) with (fillfactor = 50)`,
  `comment on column nightwriter.scheduler.since is 'since when it leads, or stands by'`,
  `comment on column nightwriter.scheduler.hindrance is 'why it must not lead; null: nothing is in the way'`,
];
