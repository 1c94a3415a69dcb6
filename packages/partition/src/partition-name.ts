import type { Job } from "@nightwriter/job";

/** What a partition is called wherever one text must say which: in leases, heartbeats and logs. `restaurant-totals/7`. */
export function partitionName({ job, partition }: { readonly job: Job; readonly partition: number }): string {
  return `${job.definition.name}/${partition}`;
}
