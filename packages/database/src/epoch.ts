/**
 * Epochs: which database cluster handed out a transaction id.
 *
 * Transaction ids and snapshots can be compared within one cluster only. A dump that is restored into another cluster
 * brings rows whose ids mean nothing there, so each row carries the epoch it was written in, and what was written in a
 * later epoch is invisible to every snapshot of an earlier one. The cluster is known by its system identifier (initdb
 * makes a new one), so a forgotten step cannot mix epochs: until the new epoch is started, inserts are refused.
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

/** Gives the cluster an epoch, unless it has one: then it returns no row. */
export function startEpoch(db: Kysely<Schema>): InsertQueryBuilder<Schema, "nightwriter.epoch", { epoch: number }> {
  return db
    .insertInto("nightwriter.epoch")
    .columns(["system_identifier"])
    .expression(sql`select system_identifier from pg_control_system()`)
    .onConflict((conflict) => conflict.column("system_identifier").doNothing())
    .returning("epoch");
}

/** Whether this cluster has an epoch: false in one that the data was restored into. Throws SqlFault. */
export async function hasEpoch({ db }: Database): Promise<boolean> {
  try {
    const row = await db
      .selectFrom("nightwriter.epoch")
      .select("epoch")
      .where("system_identifier", "=", sql<bigint>`(select system_identifier from pg_control_system())`)
      .executeTakeFirst();
    return row !== undefined;
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
