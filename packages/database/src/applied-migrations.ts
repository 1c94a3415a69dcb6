import { sql } from "kysely";
import type { Database } from "./open-database.ts";
import { coreSchema, type SchemaList } from "./schema-list.ts";
import { sqlFault } from "./sql-fault.ts";

/** The migrations of a list that a database has had, oldest first; none for an empty database. Throws SqlFault. */
export async function appliedMigrations({ db }: Database, { schema }: SchemaList = coreSchema): Promise<string[]> {
  try {
    const there = await sql<{ found: boolean }>`
      select to_regclass(${`${schema}.migration`}) is not null as found`.execute(db);
    if (there.rows[0]?.found !== true) return [];
    const table = sql.table(`${schema}.migration`);
    const names = await sql<{ name: string }>`select name from ${table} order by name`.execute(db);
    return names.rows.map((row) => row.name);
  } catch (error) {
    throw sqlFault(error);
  }
}
