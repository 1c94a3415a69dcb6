import { createHash } from "node:crypto";
import type { Database, RunKind } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { sql } from "kysely";
import { assertBegun, assertOpen, assertOver } from "./assert-plannable.ts";
import { givenKeys, givenPairs, itemsOf, keysOnDate, type Pairs } from "./candidate-pairs.ts";
import type { EnsuredRun } from "./ensure-nightly-run.ts";
import { findLeftOut, type LeftOut } from "./left-out.ts";
import { aroundBroken, type LookingPlan } from "./plan-around-broken.ts";
import { planItems } from "./plan-items.ts";
import { assertQueryInForce, type Planning, planning } from "./planning.ts";
import { runOf } from "./run.ts";
import { RunFault } from "./run-fault.ts";
import { findNightlyRun, findRequestedRun, getRun, insertRun } from "./run-store.ts";
import { findUncompared } from "./uncompared-pairs.ts";

/**
 * - `manual`, `opening`: the keys on the date; `keys` is required.
 * - `backfill`: the date as a night would have it, without what was touched before.
 * - `rerun`: every item of that date's night again, and what a night would have on the date by now.
 *
 * `keys` narrows the latter two to these.
 */
export type RunRequest = {
  readonly businessDate: Temporal.PlainDate;
  /** The same id is the same run, for ever. */
  readonly requestId: string;
  /** Default: the database's, asked under the planning lock. Another is for tests. */
  readonly now?: Temporal.Instant | undefined;
} & (
  | { readonly kind: "manual" | "opening"; readonly keys: readonly string[] }
  | { readonly kind: "backfill" | "rerun"; readonly keys?: readonly string[] }
);

/** A run that is there now, and what it was asked for and does not have. */
export interface RequestedRun extends EnsuredRun {
  readonly leftOut: LeftOut;
}

/**
 * Afterwards there is exactly one run of (job, request id), and its items were planned, once: calling it again with the
 * same request answers the same run and plans nothing more, so that a request means what it meant when it was made.
 * Such a run never stands in for the night of its date.
 *
 * Left out are, as in a night, closed dates, pairs that another run has still to apply, and parked and cancelled ones: a
 * run without a single item is possible. `leftOut` names them with their reasons, as they are at this call.
 *
 * Throws RunFault when the id was used for another request, a key is unknown, the date is closed, is not over in the job's zone
 * (or, for named keys, has not begun), or a re-run's night was never planned; a Fault when another source query
 * is in force; and SqlFault.
 */
export async function ensureRequestedRun(database: Database, job: Job, request: RunRequest): Promise<RequestedRun> {
  return planning(database, job, async (frame) => {
    assertQueryInForce(frame);
    const found = await findRequestedRun(frame, request.requestId);
    if (found !== undefined) {
      assertSameRequest(found, request, job);
      const { result: leftOut } = await aroundBroken(frame, await plannedFrom(frame, request), (candidates) =>
        findLeftOut(frame, found.id, candidates),
      );
      return { run: runOf(found), created: false, planned: 0, uncompared: [], leftOut };
    }
    const businessDate = request.businessDate.toString();
    // A run of named keys takes nothing from anybody's night: it may be for today.
    const assertReady = request.keys === undefined ? assertOver : assertBegun;
    assertReady(frame, request.businessDate, request.now ?? frame.now);
    assertOpen(frame, businessDate);
    if (request.keys !== undefined) await assertKnown(frame, request.keys);
    const plan = await plannedFrom(frame, request);
    const { kind, requestId } = request;
    const { id } = await insertRun(frame, { kind, businessDate, requestId, requestDigest: digestOf(request.keys) });
    const { result, uncompared } = await aroundBroken(frame, plan, async (candidates) => {
      const planned = await planItems(frame, { runId: id, candidates });
      return { planned, leftOut: await findLeftOut(frame, id, candidates) };
    });
    return { run: runOf(await getRun(frame, id)), created: true, ...result, uncompared };
  });
}

async function plannedFrom(frame: Planning, request: RunRequest): Promise<LookingPlan> {
  const businessDate = request.businessDate.toString();
  const { kind, keys } = request;
  switch (kind) {
    case "manual":
    case "opening":
      return { candidates: () => [givenKeys({ businessDate, keys })], findUncompared: () => Promise.resolve([]) };
    case "backfill":
      return onDate(frame, { businessDate, keys }, []);
    case "rerun":
      return onDate(frame, { businessDate, keys }, [itemsOf(frame, await nightOf(frame, businessDate), keys)]);
  }
}

/** What a night would have on the date, and more. */
function onDate(
  frame: Planning,
  asked: { readonly businessDate: string; readonly keys: readonly string[] | undefined },
  more: readonly Pairs[],
): LookingPlan {
  return {
    candidates: ({ except, compare }) => [
      ...more,
      keysOnDate(frame, { ...asked, except, compare }),
      ...(except.length === 0 ? [] : [givenPairs(except)]),
    ],
    findUncompared: async () => findUncompared(frame, asked),
  };
}

async function nightOf(frame: Planning, businessDate: string): Promise<bigint> {
  const night = await findNightlyRun(frame, businessDate);
  if (night !== undefined && night.planned_at !== null) return night.id;
  const job = frame.job.definition.name;
  throw new RunFault(
    "night_missing",
    `job ${job}: the night of ${businessDate} was never run; run it before it can be run again`,
    { details: { job, businessDate } },
  );
}

async function assertKnown({ db, job }: Planning, keys: readonly string[]): Promise<void> {
  const unknown = await db
    .selectFrom(sql<{ key: string }>`unnest(${keys}::text[])`.as<"given">(sql`given(key)`))
    .select("given.key")
    .except(db.selectFrom(job.definition.keys(db).as("known")).select("known.key"))
    .orderBy("key")
    .execute();
  if (unknown.length === 0) return;
  const name = job.definition.name;
  const shown = unknown.slice(0, 10).map((row) => row.key);
  const more = unknown.length > shown.length ? ` and ${unknown.length - shown.length} more` : "";
  throw new RunFault(
    "key_unknown",
    `job ${name}: does not know the key ${shown.join(", ")}${more}; check its spelling or record it first`,
    { details: { job: name, keys: shown.join(","), count: unknown.length } },
  );
}

function assertSameRequest(
  found: { kind: RunKind; business_date: string; request_digest: string | null },
  request: RunRequest,
  job: Job,
): void {
  const same =
    found.kind === request.kind &&
    found.business_date === request.businessDate.toString() &&
    found.request_digest === (digestOf(request.keys) ?? null);
  if (same) return;
  throw new RunFault(
    "request_differs",
    `request ${request.requestId}: was made before, as ${found.kind} of ${found.business_date} or for other keys; use a new id`,
    { details: { job: job.definition.name, requestId: request.requestId, kind: found.kind } },
  );
}

/** The same for the same set of keys, in whatever order and however often each was named. */
function digestOf(keys: readonly string[] | undefined): string | undefined {
  if (keys === undefined) return undefined;
  return createHash("sha256")
    .update(JSON.stringify([...new Set(keys)].toSorted()))
    .digest("hex");
}
