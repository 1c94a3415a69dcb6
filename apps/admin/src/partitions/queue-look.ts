/** What the queue says of a job's partitions, if it can be used. */
import { Fault } from "@nightwriter/core";
import type { QueueFaultCode } from "@nightwriter/queue";
import type { ItemQueues, QueueCounts } from "@nightwriter/run";

export type QueueLook =
  | { readonly kind: "unusable"; readonly reason: string }
  | { readonly kind: "seen"; readonly counts: readonly QueueCounts[] };

/** Faults by which a store says that it is of no use now; another installation's claim and a wrong URL are none. */
const ofNoUse: ReadonlySet<string> = new Set<QueueFaultCode>([
  "queue_unreachable",
  "queue_denied",
  "queue_misconfigured",
  "queue_unsupported",
  "queue_full",
  "queue_failed",
]);

/** Asks for all partitions at once. Who connects has proved that the store can be used. Throws what is no fault of the store. */
export async function lookAtQueue(connect: () => Promise<ItemQueues>, partitionCount: number): Promise<QueueLook> {
  try {
    const queues = await connect();
    const counts = Array.from({ length: partitionCount }, async (_, partition) => queues.partition(partition).counts());
    return { kind: "seen", counts: await Promise.all(counts) };
  } catch (error) {
    if (!(error instanceof Fault && ofNoUse.has(error.code))) throw error;
    return { kind: "unusable", reason: error.message };
  }
}
