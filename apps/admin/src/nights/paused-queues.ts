import { Fault } from "@nightwriter/core";
import type { Installation } from "../installation.ts";
import { plural } from "../output/format.ts";
import type { Finding } from "./findings.ts";

/** The partitions whose queue somebody has paused by hand. Throws QueueFault. */
export async function pausedPartitions({ job, queues }: Pick<Installation, "job" | "queues">): Promise<number[]> {
  const connected = await queues();
  const partitions = Array.from({ length: job.partitionCount }, (_, partition) => partition);
  const paused = await Promise.all(partitions.map((partition) => connected.partition(partition).isPaused()));
  return partitions.filter((partition) => paused[partition] === true);
}

/** What the queue has to say. One that cannot be asked is told, and stands for nothing else. */
export async function queueFindings(installation: Pick<Installation, "job" | "queues">): Promise<Finding[]> {
  try {
    const paused = await pausedPartitions(installation);
    if (paused.length === 0) return [];
    const queues = plural(paused.length, "queue is", "queues are");
    const fact = `${queues} paused by hand, of ${paused.length === 1 ? "partition" : "partitions"} ${paused.join(", ")}: nothing is taken from there`;
    return [{ kind: "queue paused", trouble: true, fact, remedy: "nightwriter partitions resume" }];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const fact = `the queue cannot be asked whether somebody has paused it: ${error.message}`;
    return [{ kind: "queue unknown", trouble: true, fact, remedy: "nightwriter partitions" }];
  }
}
