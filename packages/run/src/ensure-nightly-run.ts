import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { assertOpen, assertOver, isClosed } from "./assert-plannable.ts";
import { givenPairs, keysOnDate, touchedBefore } from "./candidate-pairs.ts";
import { planItems } from "./plan-items.ts";
import { assertQueryInForce, type Planning, planning } from "./planning.ts";
import { type Run, runOf } from "./run.ts";
import { findNightlyRun, getRun, insertRun } from "./run-store.ts";
import { findPlanBase, type PlanBase } from "./touched-pairs.ts";
import { findUncompared, isRefused, type UncomparedPair, withSavepoint } from "./uncompared-pairs.ts";

/** A run that is there now. */
export interface EnsuredRun {
  readonly run: Run;
  /** Whether this call made it. */
  readonly created: boolean;
  /** How many items this call added. */
  readonly planned: number;
}

/** A night that is there now. */
export interface EnsuredNight extends EnsuredRun {
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
): Promise<EnsuredNight> {
  const { businessDate, now }: Night = night instanceof Temporal.PlainDate ? { businessDate: night } : night;
  return planning(database, job, async (frame) => {
    assertOver(frame, businessDate, now ?? frame.now);
    return planNight(frame, businessDate.toString());
  });
}

async function planNight(frame: Planning, businessDate: string): Promise<EnsuredNight> {
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

/**
 * Where looking at some pair is what the statement fails at, that pair is planned unseen, with the others that were touched: its own
 * write will park it and say why, and the night does not wait for one key's bad data. A pair can start to fail between the
 * look and the plan; if it goes on like that, or no pair is to blame, nothing is compared that was touched.
 */
async function planComparing(
  frame: Planning,
  plan: NightPlan,
): Promise<{ planned: number; uncompared: readonly UncomparedPair[] }> {
  let uncompared: readonly UncomparedPair[] = [];
  for (let looks = 0; looks < 3; looks++) {
    try {
      const planned = await withSavepoint(frame, () => planOnce(frame, plan, { uncompared, compare: true }));
      return { planned, uncompared };
    } catch (error) {
      const fault = sqlFault(error);
      if (!isRefused(fault)) throw fault;
      const found = await findUncompared(frame, plan);
      if (found.length <= uncompared.length) break;
      uncompared = found;
    }
  }
  return { planned: await planOnce(frame, plan, { uncompared, compare: false }), uncompared };
}

async function planOnce(
  frame: Planning,
  { runId, businessDate, base }: NightPlan,
  { uncompared, compare }: { uncompared: readonly UncomparedPair[]; compare: boolean },
): Promise<number> {
  const touched = touchedBefore(frame, { businessDate, base, compare, except: uncompared });
  const candidates = [
    keysOnDate(frame, { businessDate, except: uncompared }),
    ...(touched === undefined ? [] : [touched]),
    ...(uncompared.length === 0 ? [] : [givenPairs(uncompared)]),
  ];
  return planItems(frame, { runId, candidates });
}
