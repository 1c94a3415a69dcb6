/**
 * The queue in Redis.
 *
 * Connections of a process: one that adds and asks (`producer`), one more when it consumes (`consumer`, shared by all its
 * workers), and one per consumed partition that blocks in BZPOPMIN. They differ in patience: an add must fail in
 * bounded time so that its caller can say so, a worker must wait for Redis however long it takes (BullMQ requires
 * maxRetriesPerRequest null there).
 */
import { invariant } from "@nightwriter/core";
import {
  type BackendFactory,
  createRedisBackend,
  type IQueueBackend,
  type JobType,
  type RedisQueueBackend,
} from "bullmq";
import { Redis, type RedisOptions } from "ioredis";
import type { QueueConnection } from "./queue-connection.ts";
import { type QueueFault, queueFault } from "./queue-fault.ts";
import type { ItemQueue, PresentState, QueueStore } from "./queue-store.ts";
import { checkRedis } from "./redis-check.ts";
import { type AskRedis, redisClaim } from "./redis-claim.ts";

/** Where a job can be, and what we call it. */
const lists = [
  ["wait", "waiting"],
  ["prioritized", "waiting"],
  ["waiting-children", "waiting"],
  ["delayed", "delayed"],
  ["active", "active"],
  ["completed", "completed"],
  ["failed", "failed"],
] as const satisfies readonly (readonly [JobType, PresentState])[];
const listNames: JobType[] = lists.map(([list]) => list);

/** Connects, checks that the server keeps jobs, and returns the store. Throws QueueFault and leaves no connection behind. */
export async function openRedisStore(connection: QueueConnection): Promise<QueueStore> {
  const { url, prefix, report, applicationName } = connection;
  invariant(/^[\w-]+$/.test(prefix), `queue prefix ${JSON.stringify(prefix)}: only letters, digits, _ and -`);
  const name = `redis at ${new URL(url).host}`;
  const producer = new Redis(url, { ...common(applicationName), ...impatience });
  producer.on("error", report);
  const ask = asking(producer, name);
  const probe = async (): Promise<void> => probeRedis(ask, { prefix, name });
  await start(producer, name, probe);

  let consumer: Redis | undefined;
  const consumerClient = (): Redis => {
    if (consumer !== undefined) return consumer;
    consumer = new Redis(url, { ...common(applicationName), lazyConnect: false, maxRetriesPerRequest: null });
    consumer.on("error", report);
    return consumer;
  };
  const backend: BackendFactory<IQueueBackend, object> = (queue, options, factoryOptions = {}) => {
    const blocks = factoryOptions.withBlockingConnection === true;
    const made = createRedisBackend(
      queue,
      { ...options, connection: blocks ? consumerClient() : producer },
      factoryOptions,
    );
    if (blocks) interruptOnlyWhenConnected(made);
    return made;
  };
  return {
    kind: "redis",
    name,
    prefix,
    report,
    backend,
    concurrencyAtMost: Number.POSITIVE_INFINITY,
    keepCompleted: { age: 24 * 3_600, count: 1_000 },
    states,
    counts,
    ping: async () => void (await ask((client) => client.ping())),
    claimSlot: redisClaim({ prefix, label: `the queue in ${name}`, ask, probe }),
    close: async () => void (await Promise.all([quit(producer), consumer === undefined ? undefined : quit(consumer)])),
  };
}

/**
 * A server that says nothing for so long is given up with all that it was asked. It is one timer per connection, where a timeout
 * of each command would be one per job that is added: a fifth of what adding costs. What was asked is not sent again by
 * the client, which would wait for ever while connections are accepted and nothing is said; adding is tried again above.
 */
const impatience: Pick<RedisOptions, "socketTimeout" | "maxRetriesPerRequest"> = {
  socketTimeout: 15_000,
  maxRetriesPerRequest: 0,
};

/** No keyPrefix, no autopipelining: BullMQ works with neither. */
function common(applicationName: string): Omit<RedisOptions, "replyMapping"> {
  return {
    lazyConnect: true,
    connectionName: applicationName,
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (times) => Math.min(2 ** Math.min(times, 6) * 50, 2_000) * (0.5 + Math.random() / 2),
    // After a failover the old primary answers as a replica: connect anew, the address may lead to the new one by now.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  };
}

/**
 * Questions to the server, with what goes wrong sorted. A client that the server does not let in tries again for ever and tells its
 * callers only that there is no connection: why, it says in an event, and that is remembered until it is let in.
 */
function asking(client: Redis, name: string): AskRedis {
  let denied: QueueFault | undefined;
  client.on("error", (error) => {
    const fault = queueFault(error, name);
    if (fault.code === "queue_denied") denied = fault;
  });
  client.on("ready", () => (denied = undefined));
  return async (question) => {
    if (denied !== undefined) throw denied;
    try {
      return await question(client);
    } catch (error) {
      throw denied ?? queueFault(error, name);
    }
  };
}

/** The probe is a write that nobody reads, and is gone soon after the last process. */
const probeMs = 60_000;

/**
 * Asks the server for what a night needs of it: one that is full, cannot persist or has become a replica answers every question and
 * takes nothing. What INFO says of it explains more than the write's own error, so it goes first.
 */
async function probeRedis(ask: AskRedis, { prefix, name }: { prefix: string; name: string }): Promise<void> {
  checkRedis(await ask((client) => client.info()), name);
  await ask((client) => client.set(`${prefix}:probe`, "", "PX", probeMs));
}

async function start(client: Redis, name: string, probe: () => Promise<void>): Promise<void> {
  let lastError: Error | undefined;
  const remember = (error: Error): void => void (lastError = error);
  client.once("error", remember);
  try {
    await client.connect();
    await probe();
  } catch (error) {
    client.disconnect();
    throw queueFault(lastError ?? error, name);
  } finally {
    client.off("error", remember);
  }
}

/** All lists of the queue in one script, so that no job can move between two looks. O(queue), however many ids are asked for. */
async function states(queue: ItemQueue, ids: readonly string[]): Promise<ReadonlyMap<string, PresentState>> {
  const asked = new Set(ids);
  const ranges = await queue.getBackend().getRanges(listNames, 0, -1, false);
  const found = new Map<string, PresentState>();
  for (const [index, [, state]] of lists.entries()) {
    for (const id of ranges[index] ?? []) if (asked.has(id)) found.set(id, state);
  }
  return found;
}

async function counts(queue: ItemQueue): Promise<ReadonlyMap<PresentState, number>> {
  const lengths = await queue.getBackend().getCounts(listNames);
  const counted = new Map<PresentState, number>();
  for (const [index, [, state]] of lists.entries())
    counted.set(state, (counted.get(state) ?? 0) + (lengths[index] ?? 0));
  return counted;
}

/**
 * A worker that ends disconnects its blocking client and waits for the `end` event. A client that is between two tries to
 * connect emits none, and has dropped its next try by then: the worker would hang for ever, even after Redis is back. So
 * the client's own retries come first; how long that may take is the deadline of who stops the consumer.
 */
function interruptOnlyWhenConnected(backend: RedisQueueBackend): void {
  const disconnect = backend.disconnectBlocking.bind(backend);
  backend.disconnectBlocking = async (wait) => {
    const client = await backend.blockingClient;
    if (client !== undefined && client.status !== "ready" && client.status !== "end") {
      const { promise, resolve } = Promise.withResolvers<void>();
      client.on("ready", resolve);
      client.on("end", resolve);
      await promise;
    }
    await disconnect(wait);
  };
}

async function quit(client: Redis): Promise<void> {
  if (client.status !== "ready") return client.disconnect();
  await client.quit().catch(() => client.disconnect());
}
