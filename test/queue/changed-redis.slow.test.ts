/** What real processes do when their Redis changes under them: each kind of process the same. */
import { registerJob } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { type RedisService, startRedis } from "@nightwriter/services";
import { type App, spawnApp, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";

const entries = ["apps/scheduler/src/main.ts", "apps/worker/src/main.ts", "apps/dashboard/src/main.ts"] as const;

interface Stack extends AsyncDisposable {
  readonly redis: RedisService;
  readonly database: TestDatabase;
  readonly apps: readonly App[];
  readonly healthz: () => Promise<{ status: number; queue: unknown }>;
}

/** One process of each kind, ready. */
async function startStack(more: Readonly<Record<string, string>> = {}): Promise<Stack> {
  await using made = new AsyncDisposableStack();
  const redis = made.use(await startRedis());
  const database = made.use(await testDatabase());
  await registerJob(database.database, restaurantTotals);
  const environment = {
    DATABASE_URL: database.url,
    QUEUE_URL: redis.url,
    LEASE_MS: "2000",
    LOG_FORMAT: "json",
    DASHBOARD_PORT: "0",
    ...more,
  };
  const apps = await Promise.all(entries.map(async (entry) => made.use(await spawnApp(entry, environment))));
  const lines = await Promise.all(
    apps.map((app) => app.waitForLog(({ msg }) => msg?.endsWith(" ready") === true, 60_000)),
  );
  const url = String(lines.at(-1)?.["url"]);
  const running = made.move();
  return {
    redis,
    database,
    apps,
    healthz: async () => {
      const answer = await fetch(new URL("/healthz", url));
      const { queue } = (await answer.json()) as { queue?: unknown };
      return { status: answer.status, queue };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The fault that each process ends with, by itself and with exit code 1. */
async function ends({ apps }: Stack): Promise<unknown[]> {
  return Promise.all(
    apps.map(async (app) => {
      expect(await app.exited).toEqual({ code: 1, signal: null });
      expect(app.log.at(-1)).toMatchObject({ level: "fatal" });
      return app.log.at(-1)?.["err"];
    }),
  );
}

describe("every process", { timeout: 180_000 }, () => {
  test("ends when the password was changed and its connections ended, with the same words", async () => {
    await using stack = await startStack();
    const { redis } = stack;
    const admin = new Redis(redis.url);
    await admin.config("SET", "requirepass", "changed");
    await admin.call("client", "kill", "type", "normal", "skipme", "yes");
    admin.disconnect();
    for (const fault of await ends(stack)) {
      expect(fault).toMatchObject({
        code: "queue_denied",
        message: expect.stringMatching(/^queue redis at 127.*(WRONGPASS|NOAUTH).*see user and password of QUEUE_URL/),
      });
      expect(JSON.stringify(fault)).not.toContain(new URL(redis.url).password);
    }
  });

  test("ends when its Redis has become a replica for good, and says whose address to use", async () => {
    await using stack = await startStack({ LEASE_URL: "none" });
    // It has the password of its new primary.
    await using primary = await startRedis({ password: new URL(stack.redis.url).password });
    await stack.redis.ask("replicaof", "127.0.0.1", String(primary.port));
    await expect.poll(stack.healthz).toEqual({ status: 503, queue: "queue_misconfigured" });
    for (const fault of await ends(stack)) {
      expect(fault).toMatchObject({
        code: "queue_misconfigured",
        message: expect.stringMatching(/use the primary's address in QUEUE_URL$/),
      });
    }
  });

  test("stays while its Redis is full, health says so, and goes on when there is room", async () => {
    await using stack = await startStack();
    await stack.redis.ask("config", "set", "maxmemory", "1");
    await expect.poll(stack.healthz).toEqual({ status: 503, queue: "queue_full" });
    await Promise.all(stack.apps.map((app) => app.waitForLog(({ msg }) => msg === "a store of no use now")));
    await stack.redis.ask("config", "set", "maxmemory", "0");
    await expect.poll(stack.healthz).toEqual({ status: 200, queue: "ok" });
    await Promise.all(stack.apps.map((app) => app.waitForLog(({ msg }) => msg === "all stores of use again")));
    expect(stack.apps.flatMap(({ log }) => log.filter(({ level }) => level === "fatal"))).toEqual([]);
  });
});
