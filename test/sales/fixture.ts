/** Files to import, and what the database says afterwards. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "@nightwriter/database";
import { type ImportOptions, type ImportResult, importSales } from "@nightwriter/sales";
import { sql } from "kysely";

export interface Folder extends AsyncDisposable {
  /** The path of a file of this name, whether there is one or not. */
  path(name: string): string;
  write(name: string, content: string | Buffer): Promise<string>;
}

export async function temporaryFolder(): Promise<Folder> {
  const folder = await mkdtemp(join(tmpdir(), "nightwriter-sales-"));
  const path = (name: string): string => join(folder, name);
  return {
    path,
    async write(name, content) {
      await writeFile(path(name), content);
      return path(name);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

export function takeaway(name: string): string {
  return join(import.meta.dirname, "../fixtures/takeaway", `${name}.csv.gz`);
}

/** Soho's sales in pounds, with the columns `date` and `amount`, unless told otherwise. Restaurants that are new are meant. */
export function optionsOf(file: string, options: Partial<ImportOptions> = {}): ImportOptions {
  return {
    file,
    restaurant: { id: "soho" },
    date: { column: "date", format: "dd/MM/yyyy HH:mm" },
    amount: { column: "amount" },
    zone: "Europe/London",
    currency: "GBP",
    ...options,
    accept: new Set(["create", ...(options.accept ?? [])]),
  };
}

type Imported = Extract<ImportResult, { outcome: "imported" }>;

/** Imports, and insists that it was not a duplicate. */
export async function importNew(database: Database, options: ImportOptions): Promise<Imported> {
  const result = await importSales(database, options);
  if (result.outcome !== "imported") throw new Error(`${options.file} was imported before`);
  return result;
}

export interface Sale {
  readonly restaurant: string;
  readonly date: string;
  readonly source: string;
  readonly line: number;
  readonly minor: number;
}

/** Every recorded sale, by source and line. */
export async function sales({ db }: Database): Promise<Sale[]> {
  const rows = await db.selectFrom("sales.sale").selectAll().orderBy("source").orderBy("source_line").execute();
  return rows.map((row) => ({
    restaurant: row.restaurant_id,
    date: row.business_date,
    source: row.source,
    line: Number(row.source_line),
    minor: Number(row.amount_minor),
  }));
}

/** Each sale as "line date minor", without its source; of one restaurant, or of all. */
export async function saleLines(database: Database, restaurant?: string): Promise<string[]> {
  const all = await sales(database);
  return all
    .filter((sale) => restaurant === undefined || sale.restaurant === restaurant)
    .map(({ line, date, minor }) => `${line} ${date} ${minor}`);
}

/** How many rows there are of what an import makes: nothing is the proof of a refused one. */
export async function rowCounts({ db }: Database): Promise<{ sales: number; files: number; restaurants: number }> {
  const count = async (table: "sales.sale" | "sales.import" | "sales.restaurant"): Promise<number> => {
    const { rows } = await sql<{ count: bigint }>`select count(*) as count from ${sql.table(table)}`.execute(db);
    return Number(rows[0]?.count);
  };
  return {
    sales: await count("sales.sale"),
    files: await count("sales.import"),
    restaurants: await count("sales.restaurant"),
  };
}

export const nothing: { sales: number; files: number; restaurants: number } = { sales: 0, files: 0, restaurants: 0 };

/** What all sales come to, in minor units. */
export async function total({ db }: Pick<Database, "db">): Promise<number> {
  const { rows } = await sql<{ total: string }>`
    select coalesce(sum(amount_minor), 0)::text as total from sales.sale`.execute(db);
  return Number(rows[0]?.total);
}

/** What an import is refused with; empty: it was not. */
export async function refusal(importing: Promise<unknown>): Promise<string> {
  return importing.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
