import { type Kysely, sql } from "kysely";

/** The fleet: who is alive, and leases for where Postgres is to keep them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table nightwriter.partition_term add column sealed_at timestamptz`,
  `comment on column nightwriter.partition_term.sealed_at is
    'when its holder ended the term in good order, all of its writes answered; null while it lasts, and if the holder vanished'`,
  `create table nightwriter.lease (
    name text collate "C" primary key,
    holder text not null,
    nonce uuid not null,
    expires_at timestamptz not null
  ) with (fillfactor = 50)`,
  `comment on table nightwriter.lease is
    'a store of leases like any other: it saves work and proves nothing. By the clock of this server alone'`,
  `create table nightwriter.worker (
    name text collate "C" primary key,
    host text not null,
    pid integer not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now(),
    left_at timestamptz,
    refused_writes bigint not null default 0,
    last_entries jsonb not null default '{}'
  ) with (fillfactor = 50)`,
  `comment on column nightwriter.worker.last_entries is
    'job name and partition ("restaurant-totals/7") to when this worker last applied an entry there'`,
];
