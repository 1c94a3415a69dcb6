import type { RunStatus } from "@nightwriter/run";

/** A line for each cause that too many items of a run share to park them all. Empty if there is none. */
export function crowdedText(statuses: readonly RunStatus[]): string {
  return statuses
    .flatMap(({ run, due, crowdedCauses }) =>
      crowdedCauses.map(
        ({ cause, parked }) =>
          `run ${run.id}: ${parked} items are parked for ${cause}, no more are; mend what they have in common, and what is due (${due}) is applied by itself`,
      ),
    )
    .join("\n");
}
