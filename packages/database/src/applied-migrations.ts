import { sql } from "kysely";
import type { Database } from "./open-database.ts";
import { sqlFault } from "./sql-fault.ts";

/** The migrations that a database has had, oldest first; none for an empty database. Throws SqlFault. */
export async function appliedMigrations({ db }: Database): Promise<string[]> {
  try {
    const there = await sql<{ found: boolean }>`
      select to_regclass('nightwriter.migration') is not null as found`.execute(db);
    if (there.rows[0]?.found !== true) return [];
    const names = await sql<{ name: string }>`select name from nightwriter.migration order by name`.execute(db);
    return names.rows.map((row) => row.name);
  } catch (error) {
    throw sqlFault(error);
  }
}
