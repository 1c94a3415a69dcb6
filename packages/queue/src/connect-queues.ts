/** The door: one call connects a process to the queue's store, wherever it is. */
import { type Logger, silentLogger } from "@nightwriter/core";
import type { ClaimSlot } from "@nightwriter/installation";
import { type Consumer, type ConsumerOptions, openConsumer } from "./consumer.ts";
import { errorReport } from "./error-report.ts";
import type { WatchLocks } from "./lock-watch.ts";
import { openPartitionQueue, type PartitionQueue } from "./partition-queue.ts";
import { openPostgresStore } from "./postgres-store.ts";
import type { QueueConnection } from "./queue-connection.ts";
import { QueueFault } from "./queue-fault.ts";
import { queueName } from "./queue-name.ts";
import type { QueueStore } from "./queue-store.ts";
import { openRedisStore } from "./redis-store.ts";

/** Where the queue is, and how this process shows in it. */
export interface ConnectQueuesOptions {
  /** redis:, rediss:, postgres: or postgresql:. */
  readonly url: string;
  /** Keeps installations apart: the key prefix in Redis; in Postgres the schema is `<prefix>_queue`. a-z, 0-9 and _. */
  readonly prefix: string;
  /** How this process shows in CLIENT LIST, pg_stat_activity and, as the worker's name, in Bull Board. */
  readonly applicationName: string;
  readonly logger?: Logger;
  /** Connections to a PostgreSQL queue at most, besides one that listens. Default: 4. Redis needs no pool. */
  readonly poolSize?: number;
  /** What names, on a PostgreSQL queue, who was in the way of a lock. Default: nobody is named. */
  readonly watchLocks?: WatchLocks;
}

/** A process's way to the queues of all jobs and partitions. */
export interface Queues extends AsyncDisposable {
  readonly kind: "redis" | "postgres";
  /** The queue of a partition; the same object every time. */
  partition(job: string, partition: number): PartitionQueue;
  /** Consumes a partition's queue from now on. */
  startConsumer(options: ConsumerOptions): Consumer;
  /** Resolves when the store answers; throws QueueFault. Whether it can be used, `claimSlot` tells. */
  ping(): Promise<void>;
  /**
   * Whose queues these are, for whoever compares. To read it asks the store for what a night needs of it, so a store that is full,
   * has become a replica or may evict keys throws here, although it answers.
   */
  readonly claimSlot: ClaimSlot;
  /** Waits, without a deadline, until every consumer has drained; then ends every connection. For a deadline, stop the consumers first. */
  close(): Promise<void>;
}

/**
 * Connects and refuses a store that would lose jobs (a Redis that may evict keys, keeps no append-only file or is a
 * replica) or is too old; makes BullMQ's tables on a PostgreSQL that has none. Throws QueueFault, and leaves no
 * connection behind when it does.
 */
export async function connectQueues(options: ConnectQueuesOptions): Promise<Queues> {
  const logger = options.logger ?? silentLogger;
  const store = await openStore({ ...options, report: errorReport(logger), poolSize: options.poolSize ?? 4 });
  const queues = new Map<string, PartitionQueue>();
  const consumers = new Set<Consumer>();

  const partitionQueue = (job: string, partition: number): PartitionQueue => {
    const name = queueName(job, partition);
    const queue = queues.get(name) ?? openPartitionQueue(store, logger, { job, partition });
    queues.set(name, queue);
    return queue;
  };
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([...consumers].map((consumer) => consumer.stop()));
    await Promise.all([...queues.values()].map(({ bullQueue }) => bullQueue.close()));
    await store.close();
  };
  const closeOnce = async (): Promise<void> => (closed ??= close());
  return {
    kind: store.kind,
    partition: partitionQueue,
    startConsumer: (consumerOptions) => {
      const onEnd = (ended: Consumer): void => void consumers.delete(ended);
      const consumer = openConsumer(store, logger, { ...consumerOptions, workerName: options.applicationName, onEnd });
      consumers.add(consumer);
      return consumer;
    },
    ping: () => store.ping(),
    claimSlot: store.claimSlot,
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

async function openStore(connection: QueueConnection): Promise<QueueStore> {
  const scheme = URL.parse(connection.url)?.protocol ?? "not a URL";
  if (scheme === "redis:" || scheme === "rediss:") return openRedisStore(connection);
  if (scheme === "postgres:" || scheme === "postgresql:") return openPostgresStore(connection);
  throw new QueueFault(
    "queue_url_invalid",
    `queue: ${scheme}; use a URL with redis:, rediss:, postgres: or postgresql:`,
  );
}
