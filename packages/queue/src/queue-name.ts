import { invariant } from "@nightwriter/core";

/**
 * The name of a partition's queue: `{restaurant-totals-7}`. The braces are a hash tag: on Redis Cluster all keys of one
 * queue share a slot (BullMQ's scripts need that), and queues spread over the nodes. Two pairs never share a name, since
 * what follows the last `-` is the partition.
 */
export function queueName(job: string, partition: number): string {
  invariant(
    /^[a-z][a-z0-9-]{0,62}$/.test(job),
    `job ${JSON.stringify(job)}: 1 to 63 of a-z, 0-9 and -, beginning with a letter`,
  );
  invariant(Number.isSafeInteger(partition) && partition >= 0, `partition ${partition}: not a whole number from 0`);
  return `{${job}-${partition}}`;
}
