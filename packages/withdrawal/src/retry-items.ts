/**
 * The way back: withdrawn items become due again.
 *
 * All of it is one transaction under the job's planning lock. So no planner plans a pair that is revived beside it, and no run
 * is marked as finished between the look and the change. Writers do not take that lock: the gates of the runs are closed
 * before their rows are locked, gates and rows both in the order of ids, as whoever withdraws an item does.
 */
import { type Actor, recordAudit } from "@nightwriter/audit";
import { invariant } from "@nightwriter/core";
import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { closeGates, inGateOrder } from "@nightwriter/ledger";
import { type DueItem, lockPlanning } from "@nightwriter/run";
import { sql, type Transaction } from "kysely";
import { obstaclesOf, type RetryObstacle } from "./retry-obstacles.ts";
import { findWithdrawn, type Selection, type WithdrawnItem, withdrawnItemOf } from "./withdrawn-items.ts";

/** An item that stays as it was, and why. */
export interface LeftOutItem extends WithdrawnItem {
  readonly obstacle: RetryObstacle;
}

/** As it was; and, unless it was a dry run, as it goes into the queue now. */
export interface RetriedItem extends WithdrawnItem {
  readonly due: DueItem | undefined;
}

/** Which items are meant, and in whose name. */
export interface RetryRequest {
  readonly selection: Selection;
  /** Only look: nothing is changed. */
  readonly dryRun: boolean;
  readonly actor: Actor;
  /** For the audit log, as are the arguments. */
  readonly reason: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What became of the items that were meant, each in one of both. */
export interface Retry {
  readonly retried: readonly RetriedItem[];
  readonly leftOut: readonly LeftOutItem[];
}

/** Whoever holds gates and freezes is shut out by the server well before a third of a lease. */
const idleLimit = "2s";

/**
 * Afterwards every selected item is due under a new generation, its run is unfinished, and the audit log says so, in one
 * transaction; or it stays as it was and is named in `leftOut` with what stands in its way. One item's obstacle does not keep
 * the others back. An item whose data are as bad as before is parked again, with an attempt of its own.
 *
 * Of several items of one key and date the one of the latest run becomes due: two due items of a pair would be one too many.
 * Nothing is enqueued: that is {@link enqueueRetried}'s business, and `reconcile`'s if the caller dies in between.
 *
 * Waits for planners, 25 s at most, which then is weather, and for writes in flight of these runs. Throws SqlFault, and then
 * nothing is changed.
 */
export async function retryItems({ db }: Database, job: Job, request: RetryRequest): Promise<Retry> {
  try {
    return await db
      .transaction()
      .setIsolationLevel("read committed")
      .execute(async (transaction) => retryUnderLock(transaction, job, request));
  } catch (error) {
    throw sqlFault(error);
  }
}

async function retryUnderLock(transaction: Transaction<Schema>, job: Job, request: RetryRequest): Promise<Retry> {
  await sql`set local idle_in_transaction_session_timeout = ${sql.lit(idleLimit)}`.execute(transaction);
  await lockPlanning(transaction, job.id);
  const rows = await findWithdrawn(transaction, job, { selection: request.selection, applied: true });
  const obstacles = await obstaclesOf(transaction, job, { rows, selection: request.selection });
  const leftOut: LeftOutItem[] = [];
  const revivable: WithdrawnItem[] = [];
  for (const [index, row] of rows.entries()) {
    const item = withdrawnItemOf(row);
    const obstacle = obstacles[index];
    if (obstacle === undefined) revivable.push(item);
    else leftOut.push({ ...item, obstacle });
  }
  if (request.dryRun || revivable.length === 0) {
    return { retried: revivable.map((item) => ({ ...item, due: undefined })), leftOut };
  }
  const runsBefore = await reopenRuns(transaction, inGateOrder(revivable.map(({ runId }) => runId)));
  const retried = await revive(transaction, revivable);
  await recordAudit(transaction, {
    actor: request.actor,
    verb: "items retry",
    jobId: job.id,
    arguments: request.arguments,
    reason: request.reason,
    before: { runs: runsBefore, items: revivable },
    after: {
      runs: runsBefore.map(({ id }) => ({ id, finishedAt: null })),
      items: retried.map(({ due }) => ({ status: "due", ...due })),
    },
  });
  return { retried, leftOut };
}

/** Shuts the gates, then takes the runs' ends back; returns what stood there. */
async function reopenRuns(
  transaction: Transaction<Schema>,
  runIds: readonly bigint[],
): Promise<{ readonly id: bigint; readonly finishedAt: Date | null }[]> {
  await closeGates(transaction, runIds);
  const before = await transaction
    .selectFrom("nightwriter.run")
    .select(["id", "finished_at as finishedAt"])
    .where("id", "in", runIds)
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
  await transaction
    .updateTable("nightwriter.run")
    .set({ revision: sql<bigint>`revision + 1`, finished_at: null })
    .where("id", "in", runIds)
    .execute();
  return before;
}

/** Under a new generation, since the queue never takes the same job twice. */
async function revive(transaction: Transaction<Schema>, items: readonly WithdrawnItem[]): Promise<RetriedItem[]> {
  const given = sql<{ run_id: bigint; business_date: string; key: string; status: string }>`unnest(
    ${items.map(({ runId }) => runId)}::bigint[], ${items.map(({ businessDate }) => businessDate)}::date[],
    ${items.map(({ key }) => key)}::text[], ${items.map(({ status }) => status)}::text[])`;
  const rows = await transaction
    .updateTable("nightwriter.run_item as it")
    .from(given.as<"given">(sql`given(run_id, business_date, key, status)`))
    .set({ status: "due", generation: sql<number>`it.generation + 1` })
    .whereRef("it.run_id", "=", "given.run_id")
    .whereRef("it.business_date", "=", "given.business_date")
    .whereRef("it.key", "=", "given.key")
    .where(sql<boolean>`it.status = given.status`)
    .returning(["it.run_id", "it.business_date", "it.key", "it.partition", "it.generation"])
    .execute();
  const byItem = new Map(rows.map((row) => [identity(row.run_id, row.business_date, row.key), row]));
  return items.map((item) => {
    const row = byItem.get(identity(item.runId, item.businessDate, item.key));
    invariant(row !== undefined, `item of key ${item.key}: was withdrawn under the planning lock and is no more`);
    const { partition, generation } = row;
    const { key, businessDate } = item;
    return { ...item, due: { runId: item.runId.toString(), key, businessDate, partition, generation } };
  });
}

function identity(...parts: readonly [bigint, string, string]): string {
  return parts.join(" ");
}
