import { type Kysely, sql } from "kysely";

/** The domain of the shipped job: restaurants, their append-only sales, where these came from, opening totals. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create schema sales`,
  `create table sales.restaurant (
    id text collate "C" primary key check (length(id) between 1 and 200),
    name text not null,
    time_zone text not null,
    cutoff time not null default '00:00',
    currency text not null check (currency ~ '^[A-Z]{3}$'),
    active boolean not null default true,
    created_at timestamptz not null default now()
  )`,
  `create table sales.import_file (
    id bigint generated always as identity primary key,
    restaurant_id text collate "C",
    content_hash text not null,
    byte_count bigint not null,
    line_count bigint not null,
    line_hashes text[] not null,
    name text not null,
    source text collate "C" not null,
    imported_at timestamptz not null default now(),
    unique nulls not distinct (restaurant_id, content_hash)
  )`,
  `comment on table sales.import_file is
    'each content that was imported whole: its hash over byte_count bytes; a file that grew has one row per length, all with one source'`,
  `comment on column sales.import_file.restaurant_id is
    'whose sales it has; null when a column of the file says so. Two restaurants may have files that say the same'`,
  `comment on column sales.import_file.line_hashes is
    'hashes over the header and 1, 2, 4, 8… lines: they tell an older or an edited copy of the file from another file'`,
  `create table sales.sale (
    restaurant_id text collate "C" not null references sales.restaurant,
    business_date date not null check (business_date between '1900-01-01' and '2199-12-31'),
    source text collate "C" not null,
    source_line bigint not null,
    amount_minor bigint not null,
    recorded_at timestamptz not null default now(),
    xid xid8 not null default pg_current_xact_id(),
    epoch integer not null default nightwriter.current_epoch(),
    primary key (restaurant_id, business_date, source, source_line) include (amount_minor)
  )`,
  `create index sale_recorded on sales.sale (epoch, xid)`,
  `create index sale_business_date on sales.sale using brin (business_date) with (autosummarize = on)`,
  `create trigger sale_append_only before update or delete or truncate on sales.sale
    for each statement execute function nightwriter.refuse_change()`,
  `create table sales.opening_total (
    restaurant_id text collate "C" primary key references sales.restaurant,
    business_date date not null check (business_date between '1900-01-01' and '2199-12-31'),
    amount_minor bigint not null,
    source text collate "C" not null,
    recorded_at timestamptz not null default now(),
    xid xid8 not null default pg_current_xact_id(),
    epoch integer not null default nightwriter.current_epoch()
  )`,
  `create index opening_total_recorded on sales.opening_total (epoch, xid)`,
  `create trigger opening_total_append_only before update or delete or truncate on sales.opening_total
    for each statement execute function nightwriter.refuse_change()`,
  `revoke update, delete, truncate on sales.sale, sales.opening_total, nightwriter.ledger_entry, nightwriter.attempt from public`,
];
