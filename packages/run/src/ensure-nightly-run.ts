import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { assertOpen, assertOver, isClosed } from "./assert-plannable.ts";
import { givenPairs, keysOnDate, touchedBefore } from "./candidate-pairs.ts";
import { aroundBroken } from "./plan-around-broken.ts";
import { planItems } from "./plan-items.ts";
import { assertQueryInForce, type Planning, planning } from "./planning.ts";
import { type Run, runOf } from "./run.ts";
import { findNightlyRun, getRun, insertRun } from "./run-store.ts";
import { findPlanBase, type PlanBase } from "./touched-pairs.ts";
import { findUncompared, type UncomparedPair } from "./uncompared-pairs.ts";

/** A run that is there now. */
export interface EnsuredRun {
  readonly run: Run;
  /** Whether this call made it. */
  readonly created: boolean;
  /** How many items this call added. */
  readonly planned: number;
  /** Pairs that could not be looked at: planned all the same, their write will park them. None if this call planned nothing. */
  readonly uncompared: readonly UncomparedPair[];
}

/** A night, and what time it is. */
export interface Night {
  readonly businessDate: Temporal.PlainDate;
  /** Default: the database's, asked under the planning lock. Another is for tests. */
  readonly now?: Temporal.Instant | undefined;
}

/**
 * Afterwards there is exactly one nightly run of (job, business date), however many callers there are, and it has every
 * item that the night is due: see the package's README for which these are. Calling it again plans what is missing by
 * then; a cancelled run is left as it is. All or nothing: a caller that dies leaves no half of a plan.
 *
 * Nothing is enqueued: that is {@link enqueueDue}'s business, and {@link reconcile}'s if the caller dies in between.
 *
 * Throws RunFault when the date is not over in the job's zone by the database's clock, or is closed and its night never
 * ran, a Fault when another source query is in force, and SqlFault; other planners of the job are waited for, 25 s at most,
 * which then is weather.
 */
export async function ensureNightlyRun(
  database: Database,
  job: Job,
  night: Temporal.PlainDate | Night,
): Promise<EnsuredRun> {
  const { businessDate, now }: Night = night instanceof Temporal.PlainDate ? { businessDate: night } : night;
  return planning(database, job, async (frame) => {
    assertOver(frame, businessDate, now ?? frame.now);
    return planNight(frame, businessDate.toString());
  });
}

async function planNight(frame: Planning, businessDate: string): Promise<EnsuredRun> {
  assertQueryInForce(frame);
  const found = await findNightlyRun(frame, businessDate);
  if (found !== undefined && (found.cancelled_at !== null || isClosed(frame, businessDate))) {
    return { run: runOf(found), created: false, planned: 0, uncompared: [] };
  }
  assertOpen(frame, businessDate);
  const run = found ?? (await insertRun(frame, { kind: "nightly", businessDate }));
  const base = await findPlanBase(frame.db, frame.job);
  const items = await planComparing(frame, { runId: run.id, businessDate, base });
  return { run: runOf(await getRun(frame, run.id)), created: found === undefined, ...items };
}

interface NightPlan {
  readonly runId: bigint;
  readonly businessDate: string;
  readonly base: PlanBase | undefined;
}

async function planComparing(
  frame: Planning,
  { runId, businessDate, base }: NightPlan,
): Promise<{ planned: number; uncompared: readonly UncomparedPair[] }> {
  const { result: planned, uncompared } = await aroundBroken(
    frame,
    {
      candidates: ({ except, compare }) => {
        const touched = touchedBefore(frame, { businessDate, base, compare, except });
        return [
          keysOnDate(frame, { businessDate, except, compare }),
          ...(touched === undefined ? [] : [touched]),
          ...(except.length === 0 ? [] : [givenPairs(except)]),
        ];
      },
      findUncompared: async () => findUncompared(frame, { businessDate, touched: { base } }),
    },
    (candidates) => planItems(frame, { runId, candidates }),
  );
  return { planned, uncompared };
}
