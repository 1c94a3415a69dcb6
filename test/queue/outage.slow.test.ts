import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Logger, silentLogger } from "@nightwriter/core";
import { connectQueues, type Queues } from "@nightwriter/queue";
import { startPostgres, startRedis } from "@nightwriter/services";
import { type ExpectStatic, expect, test } from "vitest";
import { hands, itemsOf, job } from "./fixture.ts";

interface Server {
  readonly url: string;
  readonly crash: () => Promise<void>;
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

async function redisServer(): Promise<Server> {
  const dir = await mkdtemp(join(tmpdir(), "nightwriter-outage-"));
  // It writes out what it answers before it answers: what a crash may lose otherwise is the reconciler's to mend.
  const args = ["--requirepass", "fixed", "--appendfsync", "always"];
  let redis = await startRedis({ dir, args });
  const { port } = redis;
  return {
    url: `redis://default:fixed@127.0.0.1:${port}`,
    crash: async () => redis.kill(),
    restart: async () => void (redis = await startRedis({ dir, port, args })),
    stop: async () => {
      await redis.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function postgresServer(): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), "nightwriter-outage-"));
  let postgres = await startPostgres({ dataDir });
  const { port, url } = postgres;
  return {
    url,
    crash: async () => postgres.stop({ mode: "immediate" }),
    restart: async () => void (postgres = await startPostgres({ dataDir, port })),
    stop: async () => {
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A logger that resolves when something was reported. */
function listener(): { readonly logger: Logger; readonly reported: Promise<unknown> } {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const logger: Logger = { ...silentLogger, warn: (fields) => resolve(fields), child: () => logger };
  return { logger, reported: promise };
}

interface Crossing {
  readonly queues: Queues;
  readonly server: Server;
  readonly reported: Promise<unknown>;
  /** That of a test that runs beside others. */
  readonly expect: ExpectStatic;
}

/** Settles ten, loses the server with 16 in flight, gets it back, settles all. */
async function consumeThrough({ queues, server, reported, expect }: Crossing): Promise<void> {
  const items = itemsOf(120);
  await queues.partition(job, 0).enqueue(items);
  const goOn = Promise.withResolvers<void>();
  const { handle, keys } = hands(async ({ key }) => {
    // The first ten settle, the rest is in flight or waiting when the server goes.
    if (Number(key.slice(1)) >= 10) await goOn.promise;
  });
  const consumer = queues.startConsumer({ job, partition: 0, concurrency: 16, handle });
  await keys(26);
  await server.crash();
  expect(await reported).toBeDefined();
  goOn.resolve();
  await server.restart();
  await keys(items.length);
  await expect
    .poll(async () => queues.partition(job, 0).counts(), { timeout: 60_000, interval: 500 })
    .toEqual({ waiting: 0, delayed: 0, active: 0, completed: items.length, failed: 0 });
  expect(await consumer.stop()).toBe("drained");
}

test.concurrent.for([
  ["redis", redisServer],
  ["postgres", postgresServer],
] as const)(
  "a consumer survives that its %s crashes and comes back, and loses nothing",
  { timeout: 120_000 },
  async ([, start], { expect }) => {
    const server = await start();
    try {
      const { logger, reported } = listener();
      await using queues = await connectQueues({ url: server.url, prefix: "outage", applicationName: "test", logger });
      await consumeThrough({ queues, server, reported, expect });
    } finally {
      await server.stop();
    }
  },
);

test.concurrent.for([
  ["redis", redisServer],
  ["postgres", postgresServer],
] as const)(
  "a consumer of a %s that is away can be told to stop, and does at its deadline",
  { timeout: 120_000 },
  async ([, start], { expect }) => {
    const server = await start();
    try {
      const queues = await connectQueues({ url: server.url, prefix: "outage", applicationName: "test" });
      await queues.partition(job, 0).enqueue(itemsOf(5));
      const held = Promise.withResolvers<void>();
      const { handle, keys } = hands(() => held.promise);
      const consumer = queues.startConsumer({ job, partition: 0, concurrency: 5, handle });
      await keys(5);
      await server.crash();
      const startedAt = performance.now();
      expect(await consumer.stop({ deadlineMs: 200 })).toBe("abandoned");
      held.resolve();
      await queues.close();
      expect(performance.now() - startedAt).toBeLessThan(10_000);
    } finally {
      await server.stop();
    }
  },
);

test.concurrent.for([
  ["redis", redisServer],
  ["postgres", postgresServer],
] as const)(
  "a consumer that is told to stop while its %s is away ends when that is back",
  { timeout: 120_000 },
  async ([, start], { expect }) => {
    const server = await start();
    try {
      const { logger, reported } = listener();
      const queues = await connectQueues({ url: server.url, prefix: "outage", applicationName: "test", logger });
      const { handle, keys } = hands();
      const consumer = queues.startConsumer({ job, partition: 0, concurrency: 5, handle });
      await queues.partition(job, 0).enqueue(itemsOf(5));
      await keys(5);
      await server.crash();
      await reported;
      const stopped = consumer.stop();
      await server.restart();
      expect(await stopped).toBe("drained");
      await queues.close();
    } finally {
      await server.stop();
    }
  },
);

test.each([
  ["redis", redisServer],
  ["postgres", postgresServer],
] as const)(
  "adding to a %s that is away for a moment succeeds, and adds nothing twice",
  async (_name, start) => {
    const server = await start();
    try {
      const { logger, reported } = listener();
      await using queues = await connectQueues({ url: server.url, prefix: "outage", applicationName: "test", logger });
      const queue = queues.partition(job, 0);
      await queue.enqueue(itemsOf(1_500));
      await server.crash();
      const added = queue.enqueue(itemsOf(2_500));
      expect(await reported).toBeDefined();
      await server.restart();
      await added;
      expect((await queue.counts()).waiting).toBe(2_500);
    } finally {
      await server.stop();
    }
  },
  120_000,
);
