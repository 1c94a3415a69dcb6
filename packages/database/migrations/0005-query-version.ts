import { type Kysely, sql } from "kysely";

/**
 * Which version of its job's source query an entry was summed with: a delta can be computed again only by the query that
 * computed it. Builds before this column all had version 1 of the only job there was.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table nightwriter.ledger_entry
    add column query_version integer not null default 1 check (query_version >= 1)`.execute(db);
}
