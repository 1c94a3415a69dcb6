import { type Database, sqlFault } from "@nightwriter/database";
import { sql } from "kysely";
import type { WorkerIdentity } from "./heartbeat.ts";

/**
 * A worker that has been silent for this part of a lease is taken for dead. Before its lease is over: so its partitions are
 * assigned to others by the time that they are free.
 */
export const staleShare = 0.7;

/**
 * The workers that have not left and have been heard of within `staleMs`, by the database's clock, in the order of their
 * names. Throws SqlFault.
 */
export async function liveWorkers({ db }: Database, staleMs: number): Promise<WorkerIdentity[]> {
  try {
    return await db
      .selectFrom("nightwriter.worker")
      .select(["name", "host", "pid"])
      .where("left_at", "is", null)
      .where("seen_at", ">", sql<Date>`now() - ${staleMs}::float8 * interval '1 millisecond'`)
      .orderBy("name")
      .execute();
  } catch (error) {
    throw sqlFault(error);
  }
}
