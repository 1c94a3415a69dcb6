import type { Job } from "@nightwriter/job";
import type { RunStatus } from "@nightwriter/run";
import { expectedNights } from "@nightwriter/schedule";

/**
 * - `stalled`: items are due and none was applied for a quarter of an hour: something is away.
 * - `late`: it was planned an hour ago or more, a night has fallen due since, and items of it are still due or paused.
 */
export type OverdueReason = "stalled" | "late";

const patience: Temporal.Duration = Temporal.Duration.from({ minutes: 15 });
const atLeast: Temporal.Duration = Temporal.Duration.from({ hours: 1 });

/** Why the run should be finished by now. Undefined: it is, or has time, or was cancelled or never planned. `now` is the database's. */
export function overdueReason(job: Job, status: RunStatus, now: Temporal.Instant): OverdueReason | undefined {
  const { run, due, paused, lastAppliedAt } = status;
  if (run.plannedAt === undefined || run.cancelledAt !== undefined || due + paused === 0) return undefined;
  const movedAt = [run.createdAt, run.plannedAt, lastAppliedAt].filter((at) => at !== undefined);
  if (due > 0 && movedAt.every((at) => isBefore(at.add(patience), now))) return "stalled";
  const hadTime = isBefore(run.plannedAt.add(atLeast), now);
  return hadTime && expectedNights(job, run.plannedAt, now).length > 0 ? "late" : undefined;
}

function isBefore(one: Temporal.Instant, other: Temporal.Instant): boolean {
  return Temporal.Instant.compare(one, other) < 0;
}
