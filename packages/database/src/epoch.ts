/**
 * Epochs: which database cluster handed out a transaction id.
 *
 * Transaction ids and snapshots can be compared within one cluster only. A dump that is restored into another cluster
 * brings rows whose ids mean nothing there, so each row carries the epoch it was written in, and what was written in a
 * later epoch is invisible to every snapshot of an earlier one. The cluster is known by its system identifier (initdb
 * makes a new one), and the current epoch is the last one if it is this cluster's. So a forgotten step cannot mix epochs:
 * until a new epoch is started, inserts are refused, also in a cluster that the data has left and come back to.
 */
import { type InsertQueryBuilder, type Kysely, sql } from "kysely";
import type { Database } from "./open-database.ts";
import type { Schema } from "./schema.ts";
import { sqlFault } from "./sql-fault.ts";

/** After it returns this cluster has an epoch; `started` says whether it was begun now. Idempotent, also under concurrency. */
export async function ensureEpoch(database: Database): Promise<{ epoch: number; started: boolean }> {
  const { db } = database;
  try {
    const started = await startEpoch(db).executeTakeFirst();
    if (started !== undefined) return { epoch: started.epoch, started: true };
    return { epoch: await currentEpoch(database), started: false };
  } catch (error) {
    throw sqlFault(error);
  }
}

/** Starts the next epoch, unless the last one is this cluster's: then it returns no row. Of several at once one starts it. */
export function startEpoch(db: Kysely<Schema>): InsertQueryBuilder<Schema, "nightwriter.epoch", { epoch: number }> {
  return db
    .insertInto("nightwriter.epoch")
    .columns(["epoch", "system_identifier"])
    .expression(
      sql`select coalesce(max(last.epoch), 0) + 1, c.system_identifier
        from pg_control_system() c left join nightwriter.epoch last on true
        group by c.system_identifier
        having not coalesce((array_agg(last.system_identifier order by last.epoch desc))[1] = c.system_identifier, false)`,
    )
    .onConflict((conflict) => conflict.column("epoch").doNothing())
    .returning("epoch");
}

/** Whether this cluster has an epoch: false in one that the data was restored into. Throws SqlFault. */
export async function hasEpoch({ db }: Database): Promise<boolean> {
  try {
    const last = await db
      .selectFrom("nightwriter.epoch")
      .select(sql<boolean>`system_identifier = (select system_identifier from pg_control_system())`.as("is_here"))
      .orderBy("epoch", "desc")
      .limit(1)
      .executeTakeFirst();
    return last?.is_here ?? false;
  } catch (error) {
    throw sqlFault(error);
  }
}

/** The epoch of this cluster. Throws a SqlFault that says what to do when it has none: the data was restored into it. */
export async function currentEpoch({ db }: Database): Promise<number> {
  try {
    const { rows } = await sql<{ epoch: number }>`select nightwriter.current_epoch() as epoch`.execute(db);
    return rows[0]?.epoch ?? 0;
  } catch (error) {
    throw sqlFault(error);
  }
}
