/**
 * The plan: one statement that gives a run its items.
 *
 *   candidate  what the run may plan, see candidate-pairs.ts
 *   wanted     without what this run has already, what another run has still to do, and what an operator or its own error
 *              has withdrawn; and without closed dates
 *   planned    the items
 *   total      a row for each key that has none yet, at zero, in key order
 *   marked     the run is planned now. Its snapshot is that of its first plan and is never moved: a sale that comes
 *              after the item of its pair was applied is invisible in it, and so is found by the next night.
 *
 * What is left out goes through `except`, not through anti-joins: statistics know nothing of tonight's run, and a plan that
 * believes in one row joins 20,000 to 20,000 in nested loops. A set operation hashes or sorts, whatever it believes.
 */
import type { Job } from "@nightwriter/job";
import { type CompiledQuery, type Expression, type RawBuilder, sql } from "kysely";
import type { Pairs } from "./candidate-pairs.ts";
import { dueElsewhere, type ExcludedPair, withdrawn } from "./excluded-pairs.ts";
import type { Planning } from "./planning.ts";
import type { Pair } from "./touched-pairs.ts";

export interface PlanRequest {
  readonly runId: bigint;
  /** At least one; duplicates among them are planned once. */
  readonly candidates: readonly Pairs[];
}

/** Gives the run the candidates that are missing, and returns how many these were. Throws the driver's error. */
export async function planItems(planning: Planning, request: PlanRequest): Promise<number> {
  const { rows } = await planning.db.executeQuery(planStatement(planning, request));
  return Number(rows[0]?.planned ?? 0n);
}

function planStatement(
  { db, job, partitionCount, closedThrough }: Planning,
  { runId, candidates }: PlanRequest,
): CompiledQuery<{ planned: bigint }> {
  const run = sql<bigint>`${runId}::bigint`;
  return db
    .with("candidate", () => sql<Pair>`(${sql.join(candidates.map(selectPairs), sql` union all `)})`)
    .with("wanted", (cte) =>
      cte
        .selectFrom("candidate")
        .select(["key", "business_date"])
        .$if(closedThrough !== undefined, (open) => open.where("business_date", ">", closedThrough ?? null))
        .except(ownItems(db, runId))
        .except(pairsOf(dueElsewhere(db, job, runId)))
        .except(pairsOf(withdrawn(db, job))),
    )
    .with("planned", (cte) =>
      cte
        .insertInto("nightwriter.run_item")
        .columns(["run_id", "business_date", "key", "partition"])
        .expression((eb) =>
          eb
            .selectFrom("wanted")
            .select([
              run.as("run_id"),
              "business_date",
              "key",
              sql<number>`nightwriter.partition_of(key, ${partitionCount}::integer)`.as("partition"),
            ])
            .orderBy("business_date")
            .orderBy("key"),
        )
        .returning("key"),
    )
    .with("total", (cte) =>
      cte
        .insertInto("nightwriter.key_total")
        .columns(["job_id", "key"])
        .expression((eb) =>
          eb
            .selectFrom("planned")
            .select([sql<number>`${job.id}::integer`.as("job_id"), "key"])
            .except(eb.selectFrom("nightwriter.key_total").select(["job_id", "key"]).where("job_id", "=", job.id))
            .orderBy("key"),
        )
        .onConflict((conflict) => conflict.columns(["job_id", "key"]).doNothing()),
    )
    .with("marked", (cte) =>
      cte
        .updateTable("nightwriter.run as it")
        .set((eb) => ({
          plan_snapshot: eb.fn.coalesce("it.plan_snapshot", sql<string>`pg_current_snapshot()`),
          plan_epoch: eb.fn.coalesce("it.plan_epoch", sql<number>`nightwriter.current_epoch()`),
          plan_overlaps: eb.fn.coalesce("it.plan_overlaps", overlaps(db, job, runId)),
          planned_at: eb.fn.coalesce("it.planned_at", sql<Date>`clock_timestamp()`),
          finished_at: null,
        }))
        .where("it.id", "=", runId)
        .where((eb) =>
          eb.or([
            eb("it.plan_snapshot", "is", null),
            eb.and([eb("it.finished_at", "is not", null), eb.exists(eb.selectFrom("planned").select("key"))]),
          ]),
        ),
    )
    .selectFrom("planned")
    .select((eb) => eb.fn.countAll<bigint>().as("planned"))
    .compile();
}

function pairsOf(excluded: Expression<ExcludedPair>): Expression<Pair> {
  return sql<Pair>`(${selectPairs(excluded)})`;
}

function selectPairs(pairs: Expression<Pair>): RawBuilder<Pair> {
  return sql`select one.key, one.business_date from (${pairs}) as one`;
}

/** Items that the run has already, whatever their status. */
function ownItems(db: Planning["db"], runId: bigint): Pairs {
  return db
    .selectFrom("nightwriter.run_item as own")
    .select(["own.key", "own.business_date"])
    .where("own.run_id", "=", runId);
}

/** Ids of the other runs that can still write. */
function overlaps(db: Planning["db"], job: Job, runId: bigint): Expression<bigint[]> {
  return sql`array(${db
    .selectFrom("nightwriter.run as other")
    .select("other.id")
    .where("other.job_id", "=", job.id)
    .where("other.id", "<>", runId)
    .where("other.finished_at", "is", null)
    .where("other.cancelled_at", "is", null)})`;
}
