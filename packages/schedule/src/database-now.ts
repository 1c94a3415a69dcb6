import { invariant } from "@nightwriter/core";
import { type Database, sqlFault } from "@nightwriter/database";
import { sql } from "kysely";

/**
 * What time it is, by the database's clock: the one that all processes share, and by which nights are due. A process asks once
 * for each round of a duty and hands the instant on, so that one round knows one time. Throws SqlFault.
 */
export async function databaseNow({ db }: Pick<Database, "db">): Promise<Temporal.Instant> {
  try {
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
    const [row] = rows;
    invariant(row !== undefined, "select clock_timestamp(): answers one row");
    return row.now.toTemporalInstant();
  } catch (error) {
    throw sqlFault(error);
  }
}
