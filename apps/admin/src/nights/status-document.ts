import type { RunStatus } from "@nightwriter/run";

/** A run's status as a document: instants and dates as ISO 8601 texts, amounts as minor units. */
export function statusDocument({
  run,
  deltaMinor,
  appliedPerSecond,
  parkedItems,
  crowdedCauses,
  ...counts
}: RunStatus): object {
  const { total, applied, due, paused, parked, cancelled, firstAppliedAt, lastAppliedAt } = counts;
  return {
    run: run.id,
    kind: run.kind,
    date: run.businessDate,
    requestId: run.requestId,
    createdAt: run.createdAt,
    finishedAt: run.finishedAt,
    cancelledAt: run.cancelledAt,
    items: { total, applied, due, paused, parked, cancelled },
    deltaMinor,
    firstAppliedAt,
    lastAppliedAt,
    appliedPerSecond,
    parkedItems,
    crowdedCauses,
  };
}

/** Whether nothing went wrong with the run so far: what is parked or paused waits for a person. */
export function isInOrder({ parked, paused }: RunStatus): boolean {
  return parked === 0 && paused === 0;
}
