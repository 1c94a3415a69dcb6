/**
 * The gate in front of a run's row: writers pass it together, whoever withdraws something closes it.
 *
 * Every write holds the row of its run `for share`, and Postgres lets new share lockers overtake somebody who waits to change
 * the row: on a busy night he would wait until the night is over. Advisory locks queue fairly. So a write takes the gate
 * shared before its row locks, and a park, a cancellation or a pause takes it alone before it raises the revision: it
 * waits for the writes in flight, and the later ones wait behind it.
 *
 * Both sides take gates in the order of run ids, so that they cannot deadlock.
 */
import type { Schema } from "@nightwriter/database";
import { type Kysely, type RawBuilder, sql } from "kysely";

/** The first half of the lock's key, the second is the run's id, folded. `nightwriter.park_items` closes the same. */
const gateSpace = 0x6e777267;

/** Passes the gates of these runs, in the order of the array, until the transaction ends: how many they were. */
export function passGates(runs: RawBuilder<bigint[]>): RawBuilder<bigint> {
  return sql`(select count(pg_advisory_xact_lock_shared(${sql.lit(gateSpace)}, (run % 2147483647)::integer))
    from unnest(${runs}) as passed(run))`;
}

/** Closes the gates of these runs until the transaction ends, after the writes in flight. `runs` in ascending order. */
export async function closeGates(db: Kysely<Schema>, runs: readonly bigint[]): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(gateSpace)}, (run % 2147483647)::integer)
    from unnest(${runs}::bigint[]) as closed(run)`.execute(db);
}

/** Ascending and distinct: the order in which gates and rows of runs are taken. */
export function inGateOrder(runs: Iterable<bigint>): bigint[] {
  return [...new Set(runs)].toSorted((one, other) => (one < other ? -1 : 1));
}
