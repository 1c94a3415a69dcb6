/** The tables that this room brings along, as Kysely sees them, and the columns that it adds to those of the core. */
import type { Schema } from "@nightwriter/database";
import type { ColumnType, Generated, JSONColumnType } from "kysely";

type Bigint = ColumnType<bigint, bigint | number, never>;
type Count = ColumnType<bigint, bigint | number | undefined, never>;

/** An import of a file, or an undo of one. Never changed. */
export interface ImportTable {
  /** Taken from the sequence first, because the source has it in its name. */
  id: Bigint;
  undoes: bigint | null;
  continues: bigint | null;
  restaurant_id: string | null;
  feed: Generated<string>;
  name: string;
  source: string;
  first_line: Count;
  last_line: Count;
  content_hash: string | null;
  byte_count: bigint | null;
  line_count: bigint | null;
  line_hashes: Generated<string[]>;
  ends_line: Generated<boolean>;
  bad_lines: Generated<bigint[]>;
  good_hash: string | null;
  skip_file: string | null;
  reading: JSONColumnType<object, string | undefined, never> | null;
  options: JSONColumnType<object, string | undefined, never>;
  kept: Count;
  added: Count;
  known: Count;
  corrected: Count;
  taken_back: Count;
  left_out: Count;
  seen_values: JSONColumnType<Record<string, readonly string[]>, string | undefined, never>;
  skipped: Count;
  /** Minor units by currency, as text. */
  sums: JSONColumnType<Record<string, string>, string | undefined, never>;
  first_date: string | null;
  last_date: string | null;
  /** As text: YYYY-MM-DD HH:MM:SS. */
  newest: string | null;
  actor: string | null;
  host: string | null;
  reason: string | null;
  imported_at: Generated<Date>;
}

export interface ImportNeedTable {
  import_id: Bigint;
  needs_id: Bigint;
}

/** What an import made of a sale with an id; the row of the last import holds. All of it null but the restaurant: taken back. */
export interface IdentityTable {
  /** A UUID's text. */
  hash: string;
  import_id: Bigint;
  restaurant_id: string;
  business_date: string | null;
  amount_minor: bigint | null;
  first_date: string | null;
  first_source: string | null;
  first_line: bigint | null;
}

/** From a business date on. Before the first one, the restaurant's own. */
export interface RestaurantClockTable {
  restaurant_id: string;
  from_date: string;
  time_zone: string;
  cutoff: string;
}

type ClosableRestaurant = Schema["sales.restaurant"] & {
  /** Sales of this business date and later are refused; null: it is open. */
  closed_since: string | null;
};

type CorrectingSale = Schema["sales.sale"] & {
  local_time: string | null;
  /** The sale that this row corrects, takes back or reverses; null for a sale of its own. */
  first_date: string | null;
  first_source: string | null;
  first_line: bigint | null;
};

/** For `db.withTables<SalesSchema>()`. */
export type SalesSchema = {
  "sales.import": ImportTable;
  "sales.import_need": ImportNeedTable;
  "sales.identity": IdentityTable;
  "sales.sale": CorrectingSale;
  "sales.restaurant": ClosableRestaurant;
  "sales.restaurant_clock": RestaurantClockTable;
};
