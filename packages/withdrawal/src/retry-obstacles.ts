/** What stands in the way of a withdrawn item, read under the planning lock. */
import type { Schema } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { unappliedItems } from "@nightwriter/run";
import { sql, type Transaction } from "kysely";
import type { Selection, WithdrawnRow } from "./withdrawn-items.ts";

/**
 * Why an item stays withdrawn.
 *
 * - `applied`: it has an entry, so there is nothing to be done.
 * - `cancelled`: somebody took it out by name. It comes back by name only, so that "all" does not undo what a person decided.
 * - `run_cancelled`: its whole run was cancelled.
 * - `closed`: its business date is closed.
 * - `due`: another item of the same key and date is due, or becomes due by this very call; `runId` is that one's run.
 */
export type RetryObstacle =
  | { readonly why: "applied" | "cancelled" | "run_cancelled" | "closed" }
  | { readonly why: "due"; readonly runId: bigint };

interface Looked {
  readonly rows: readonly WithdrawnRow[];
  readonly selection: Selection;
}

/** In the order of the rows; undefined where nothing does. */
export async function obstaclesOf(
  transaction: Transaction<Schema>,
  job: Job,
  { rows, selection }: Looked,
): Promise<(RetryObstacle | undefined)[]> {
  if (rows.length === 0) return [];
  const { closed_through } = await transaction
    .selectFrom("nightwriter.job")
    .select("closed_through")
    .where("id", "=", job.id)
    .executeTakeFirstOrThrow();
  const cancelledRuns = await findCancelledRuns(transaction, rows);
  const dueIn = await findDueElsewhere(transaction, job, rows);
  const first = rows.map((row): RetryObstacle | undefined => {
    const due = dueIn.get(pairOf(row));
    if (row.version_after !== null) return { why: "applied" };
    if (cancelledRuns.has(row.run_id)) return { why: "run_cancelled" };
    if (closed_through !== null && row.business_date <= closed_through) return { why: "closed" };
    if (row.status === "cancelled" && selection.keys === undefined) return { why: "cancelled" };
    return due === undefined ? undefined : { why: "due", runId: due };
  });
  // Rows come in the order of runs: the last free one of a pair is of its latest run.
  const chosen = new Map<string, bigint>();
  for (const [index, row] of rows.entries()) if (first[index] === undefined) chosen.set(pairOf(row), row.run_id);
  return first.map((obstacle, index) => {
    const row = rows[index];
    const runId = row === undefined ? undefined : chosen.get(pairOf(row));
    if (obstacle !== undefined || runId === undefined || runId === row?.run_id) return obstacle;
    return { why: "due", runId };
  });
}

async function findCancelledRuns(
  transaction: Transaction<Schema>,
  rows: readonly WithdrawnRow[],
): Promise<Set<bigint>> {
  const ids = [...new Set(rows.map(({ run_id }) => run_id))];
  const cancelled = await transaction
    .selectFrom("nightwriter.run")
    .select("id")
    .where("id", "=", sql<bigint>`any(${ids}::bigint[])`)
    .where("cancelled_at", "is not", null)
    .execute();
  return new Set(cancelled.map(({ id }) => id));
}

/** By pair, the run that has still to apply an item of it: looked up run by run, since statistics know nothing of tonight's. */
async function findDueElsewhere(
  transaction: Transaction<Schema>,
  job: Job,
  rows: readonly WithdrawnRow[],
): Promise<Map<string, bigint>> {
  const given = sql<{ key: string; business_date: string }>`unnest(
    ${rows.map(({ key }) => key)}::text[], ${rows.map((row) => row.business_date)}::date[])`;
  const found = await transaction
    .selectFrom(given.as<"given">(sql`given(key, business_date)`))
    .innerJoin("nightwriter.run as other", (join) =>
      join.on("other.job_id", "=", job.id).on("other.finished_at", "is", null).on("other.cancelled_at", "is", null),
    )
    .innerJoinLateral(
      () =>
        unappliedItems(transaction, job)
          .select("it.run_id")
          .whereRef("it.run_id", "=", sql.ref("other.id"))
          .whereRef("it.business_date", "=", sql.ref("given.business_date"))
          .whereRef("it.key", "=", sql.ref("given.key"))
          .limit(1)
          .as("due"),
      (join) => join.onTrue(),
    )
    .select(["given.key", "given.business_date", "due.run_id"])
    .execute();
  return new Map(found.map((row) => [pairOf(row), row.run_id]));
}

/** A date has no blank in it, so that a text is a pair's and no other's. */
function pairOf({ business_date, key }: { readonly business_date: string; readonly key: string }): string {
  return `${business_date} ${key}`;
}
