/** Several read-only transactions that all see the database in the same moment. */
import type { Database, Schema } from "@nightwriter/database";
import { sql, type Transaction } from "kysely";

export type SnapshotTask = (db: Transaction<Schema>) => Promise<void>;

/**
 * Runs the tasks, in order, on `lanes` connections at a time, each in a repeatable-read, read-only transaction on one and
 * the same snapshot. After a failure no further task is begun; it throws when those under way have ended. Throws what the
 * task or the driver threw.
 *
 * The statements may take as long as they need, as far as the server is concerned: open the database with `statementTimeoutMs: 0`
 * so that the client waits too.
 */
export async function onSharedSnapshot({ db }: Database, lanes: number, tasks: readonly SnapshotTask[]): Promise<void> {
  const queue = [...tasks];
  const begin = (work: SnapshotTask): Promise<void> =>
    db
      .transaction()
      .setIsolationLevel("repeatable read")
      .setAccessMode("read only")
      .execute(async (transaction) => work(transaction));
  const drain: SnapshotTask = async (transaction) => {
    try {
      await prepare(transaction);
      for (let task = queue.shift(); task !== undefined; task = queue.shift()) await task(transaction);
    } catch (error) {
      queue.length = 0;
      throw error;
    }
  };
  await begin(async (first) => {
    const { rows } = await sql<{ id: string }>`select pg_export_snapshot() as id`.execute(first);
    const id = sql.lit(rows[0]?.id ?? "");
    const join: SnapshotTask = async (transaction) => {
      await sql`set transaction snapshot ${id}`.execute(transaction);
      await drain(transaction);
    };
    // The snapshot is there for others as long as this transaction is: it ends last.
    const others = Array.from({ length: lanes - 1 }, () => begin(join));
    const settled = await Promise.allSettled([drain(first), ...others]);
    for (const each of settled) if (each.status === "rejected") throw each.reason;
  });
}

/**
 * Memory for hashing a million rows instead of spilling them. Neither compiled nor parallel: the tasks are each other's
 * parallelism, and workers that hash halves which their leader hashes again take twice the time of one that hashes all.
 */
async function prepare(transaction: Transaction<Schema>): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(transaction);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
  await sql`set local work_mem = '256MB'`.execute(transaction);
  await sql`set local jit = off`.execute(transaction);
  await sql`set local max_parallel_workers_per_gather = 0`.execute(transaction);
}
