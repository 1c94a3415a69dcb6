/** What the processes write in bad weather: no secret, and no more lines than somebody can read. */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateToLatest, openDatabase } from "@nightwriter/database";
import { schemaLists } from "@nightwriter/restaurant-totals";
import { startPostgres, startRedis, startTcpProxy } from "@nightwriter/services";
import { type App, type LogLine, makeRestaurants, recordSales, spawnApp } from "@nightwriter/testkit";
import { Redis } from "ioredis";
import { expect, it } from "vitest";

const [password, newPassword] = ["redis-before-c0ffee", "redis-after-deadbeef"];
const bad = new Set(["warn", "error", "fatal"]);

/** What a driver's client has and a log must not: its cancel key, its parameters, its socket. */
const clientFields = ["secretKey", "connectionParameters", "processID", "_socket", "enableOfflineQueue"];

const isBad = ({ level }: LogLine): boolean => bad.has(String(level));

/** Lines about the same, of the same partition, lease or duty, that came less than a second after another. */
function crowded({ log }: App): string[] {
  const last = new Map<string, number>();
  return log.filter(isBad).flatMap((line) => {
    const about = [line.msg, line["partition"], line["lease"], line["duty"], line["key"]].join(" ");
    const atMs = new Date(String(line["time"])).getTime();
    const beforeMs = last.get(about) ?? Number.NEGATIVE_INFINITY;
    last.set(about, atMs);
    return atMs - beforeMs < 990 ? [`${about} after ${atMs - beforeMs} ms`] : [];
  });
}

it("worker, scheduler and dashboard tell of bad weather a line a second, and no secret", {
  timeout: 240_000,
}, async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "nightwriter-weather-log-"));
  await using stack = new AsyncDisposableStack();
  let postgres = await startPostgres({ dataDir: folder.path });
  stack.defer(async () => postgres.stop());
  const { dataDir, port } = postgres;
  const redis = stack.use(await startRedis({ password }));
  const proxy = stack.use(await startTcpProxy({ port }));
  {
    await using database = openDatabase({ url: postgres.url, applicationName: "test", max: 1 });
    await migrateToLatest(database, { lists: schemaLists });
    const keys = await makeRestaurants(database.db, 400);
    const sale = { businessDate: "2026-03-14", amountMinor: 7n };
    await recordSales(
      database.db,
      keys.map((restaurant) => ({ restaurant, ...sale })),
    );
  }
  const environment = {
    DATABASE_URL: proxy.urlFor(postgres.url),
    QUEUE_URL: redis.url,
    QUEUE_PREFIX: "weather",
    LEASE_MS: "3000",
    DASHBOARD_PORT: "0",
    RECONCILE_INTERVAL_MS: "2000",
    CATCH_UP_INTERVAL_MS: "2000",
    LOG_LEVEL: "debug",
    LOG_FORMAT: "json",
  };
  const start = async (name: string, ready: string): Promise<App> => {
    const app = stack.use(await spawnApp(`apps/${name}/src/main.ts`, environment));
    await app.waitForLog(({ msg }) => msg === ready, 50_000);
    return app;
  };
  const apps = [
    await start("worker", "worker ready"),
    await start("scheduler", "scheduler ready"),
    await start("dashboard", "dashboard ready"),
  ] as const;
  const [worker] = apps;

  // All connections end at once, and nobody answers for a while.
  await postgres.stop({ mode: "immediate" });
  await worker.waitForLog(isBad);
  postgres = await startPostgres({ dataDir, port });
  // Silence instead of an end.
  proxy.hold();
  const before = worker.log.length;
  await worker.waitForLog((line) => isBad(line) && worker.log.indexOf(line) >= before, 60_000);
  proxy.resume();
  // All that the queue's connections do is refused.
  const admin = new Redis(redis.url);
  await admin.config("SET", "requirepass", newPassword);
  await admin.call("client", "kill", "type", "normal", "skipme", "yes");
  admin.disconnect();
  await Promise.all(apps.map(({ exited }) => exited));

  const secrets = [new URL(postgres.url).password, password, newPassword, ...clientFields];
  for (const app of apps) {
    expect(app.log.filter(isBad).length).toBeGreaterThan(0);
    const text = app.log.map((line) => JSON.stringify(line)).join("\n");
    expect(secrets.filter((secret) => secret !== "" && text.includes(secret))).toEqual([]);
    expect(crowded(app)).toEqual([]);
  }
});
