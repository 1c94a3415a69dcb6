/**
 * What a requested run was asked for and does not have: a plan leaves out in silence, and whoever asked for it by name must
 * hear of it.
 *
 * One aggregate over everything that may be the reason, without a join: statistics know nothing of tonight's run, and a join
 * that believes in one row is quadratic.
 */
import { invariant } from "@nightwriter/core";
import { sql } from "kysely";
import type { Pairs } from "./candidate-pairs.ts";
import { dueElsewhere, withdrawn } from "./excluded-pairs.ts";
import type { Planning } from "./planning.ts";
import type { Pair } from "./touched-pairs.ts";

/**
 * Why a pair was left out, and if several fit, the first:
 *
 * - `closed`: its date is closed.
 * - `parked`, `cancelled`: an item of it was, in that run; `items retry` is the way back.
 * - `run_cancelled`: a run that was cancelled has an item of it that it never applied.
 * - `due`: that run has still to apply it, and adds what this one would have.
 */
export type LeftOutReason = (typeof reasons)[number];

const reasons = ["closed", "parked", "cancelled", "run_cancelled", "due"] as const;

/** A pair that a run was asked for and does not have. */
export interface LeftOutPair {
  readonly key: string;
  /** `YYYY-MM-DD` */
  readonly businessDate: string;
  readonly reason: LeftOutReason;
  /** Whose item is the reason; undefined for a closed date. */
  readonly runId: bigint | undefined;
}

/** What a run was asked for and does not have. */
export interface LeftOut {
  /** All pairs, by reason; reasons without any are absent. */
  readonly counts: Readonly<Partial<Record<LeftOutReason, number>>>;
  /** The first twenty of each reason. */
  readonly pairs: readonly LeftOutPair[];
}

const listedPerReason = 20;

/** Looks in the frame that planned the run, after it did. Throws the driver's error. */
export async function findLeftOut(frame: Planning, runId: bigint, candidates: readonly Pairs[]): Promise<LeftOut> {
  const { db, job, closedThrough = "-infinity" } = frame;
  const asked = sql<Pair>`(${sql.join(
    candidates.map((pairs) => sql`select one.key, one.business_date from (${pairs}) as one`),
    sql` union all `,
  )})`;
  // The least of its reasons, as [reason, run]: arrays are compared by their first elements first.
  const { rows } = await sql<{ key: string; business_date: string; why: [bigint, bigint]; of_its_reason: bigint }>`
    with candidate as materialized ${asked},
    looked as (
      select key, business_date, true as is_asked, false as is_own, null::bigint[] as why from candidate
      union all
      select key, business_date, false, false, array[0, 0]::bigint[] from candidate
      where business_date <= ${closedThrough}::date
      union all
      select key, business_date, false, false, array[case status when 'parked' then 1 else 2 end, run_id]
      from ${withdrawn(db, job)} as withdrawn
      union all
      select key, business_date, false, false, array[case when is_cancelled then 3 else 4 end, run_id]
      from ${dueElsewhere(db, job, runId)} as elsewhere
      union all
      select key, business_date, false, true, null from nightwriter.run_item where run_id = ${runId}::bigint
    ),
    left_out as (
      select key, business_date, min(why) as why from looked
      group by key, business_date
      having bool_or(is_asked) and not bool_or(is_own) and min(why) is not null
    ),
    ranked as (
      select key, business_date, why, count(*) over reason as of_its_reason,
        row_number() over (reason order by business_date, key) as place
      from left_out window reason as (partition by why[1])
    )
    select key, business_date, why, of_its_reason from ranked where place <= ${listedPerReason}
    order by why[1], business_date, key`.execute(db);
  const counts: Partial<Record<LeftOutReason, number>> = {};
  const pairs = rows.map(({ key, business_date, why: [rank, run], of_its_reason }): LeftOutPair => {
    const reason = reasons[Number(rank)];
    invariant(
      reason !== undefined,
      `pair ${key} ${business_date}: was left out for reason ${rank}, which there is not`,
    );
    counts[reason] = Number(of_its_reason);
    return { key, businessDate: business_date, reason, runId: reason === "closed" ? undefined : run };
  });
  return { counts, pairs };
}
