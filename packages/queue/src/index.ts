export { type ConnectQueuesOptions, connectQueues, type Queues } from "./connect-queues.ts";
export type { Consumer, ConsumerEnd, ConsumerOptions, DeliveryContext, Postponed } from "./consumer.ts";
export type { PartitionQueue, QueueCounts } from "./partition-queue.ts";
export { queueSchema } from "./postgres-store.ts";
export { QueueFault, type QueueFaultCode } from "./queue-fault.ts";
export { type QueueItem, queueJobId } from "./queue-item.ts";
export { queueName } from "./queue-name.ts";
export type { QueueItemState } from "./queue-store.ts";
