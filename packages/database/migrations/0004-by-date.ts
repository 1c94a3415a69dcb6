import { type Kysely, sql } from "kysely";

/**
 * A night is one date. Where an index begins with the key, its rows of tonight lie on as many pages as there are keys; where
 * it begins with the date, they lie side by side at its end, where they are read, written and logged together. Whoever asks
 * for a (key, business date) asks for both, so neither order is of more use to him.
 *
 * An append-only table grows, and is vacuumed when it has grown enough: by default by a fifth, which after a year are two
 * months. Until then, each row that an index finds is looked up in the table as well, to see whether it is visible.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const vacuumedByRows = "(autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000)";

const statements = [
  `alter table sales.sale drop constraint sale_pkey`,
  `alter table sales.sale add primary key (business_date, restaurant_id, source, source_line) include (amount_minor)`,
  `drop index sales.sale_business_date`,
  `alter table nightwriter.ledger_entry drop constraint ledger_entry_item`,
  `alter table nightwriter.ledger_entry add constraint ledger_entry_item unique (job_id, business_date, key, run_id)`,
  `alter table sales.sale set ${vacuumedByRows}`,
  `alter table nightwriter.ledger_entry set ${vacuumedByRows}`,
];
