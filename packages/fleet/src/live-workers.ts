import { type Database, sqlFault } from "@nightwriter/database";
import { toleranceMs } from "@nightwriter/lease";
import { sql } from "kysely";
import type { WorkerIdentity } from "./heartbeat.ts";

/**
 * After so many milliseconds of silence a worker is taken for dead: 0.7 of a lease. So its partitions are assigned to others
 * by the time that they are free. Short leases are borne with, see {@link toleranceMs}.
 */
export function staleAfterMs(leaseMs: number): number {
  return toleranceMs(leaseMs, 0.7);
}

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
