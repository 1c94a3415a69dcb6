import type { SchedulerSight } from "@nightwriter/fleet";

/**
 * - `led`: a scheduler that is alive leads, or one has begun so lately that it may not have come to it.
 * - `leaderless`: schedulers are alive, and none has led for a minute.
 * - `gone`: there were schedulers, and none of them is alive.
 * - `unknown`: none was heard of in the last week.
 */
export type Leadership = "led" | "leaderless" | "gone" | "unknown";

/** Whoever takes over has taken over by then, with leases of ordinary length. */
const patience: Temporal.Duration = Temporal.Duration.from({ minutes: 1 });

/** Whether the duties are done by somebody. `now` is the database's. */
export function leadershipOf(schedulers: readonly SchedulerSight[], now: Temporal.Instant): Leadership {
  if (schedulers.length === 0) return "unknown";
  const alive = schedulers.filter((each) => each.alive);
  if (alive.length === 0) return "gone";
  if (alive.some(({ leads }) => leads)) return "led";
  const isWaiting = ({ hindrance, since }: SchedulerSight): boolean =>
    hindrance === undefined && Temporal.Instant.compare(since.add(patience), now) > 0;
  return alive.some(isWaiting) ? "led" : "leaderless";
}
