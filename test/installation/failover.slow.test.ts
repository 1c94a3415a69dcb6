/** A standby that is promoted in the middle of a night: the same installation, the same epoch, and nobody is needed. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@nightwriter/core";
import { migrateToLatest, openDatabase } from "@nightwriter/database";
import { currentInstallation } from "@nightwriter/installation";
import { registerJob } from "@nightwriter/job";
import { verify } from "@nightwriter/ledger";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { type PostgresService, startPostgres, startRedis } from "@nightwriter/services";
import { spawnApp } from "@nightwriter/testkit";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { expectExact, planNight, until } from "../worker/night.ts";

interface Address extends AsyncDisposable {
  readonly url: string;
  /** From now on it leads to this server; connections to the one before are ended. */
  readonly move: (server: PostgresService) => void;
}

/** An address that stays while the server behind it becomes another one, as a name or a virtual IP does. */
async function addressOf(first: PostgresService): Promise<Address> {
  let { port } = first;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    client.pipe(upstream).pipe(client);
    open.add(client);
    const end = (): void => {
      open.delete(client);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = new URL(first.url);
  const address = server.address();
  url.port = typeof address === "object" ? String(address?.port) : "";
  const endAll = (): void => {
    for (const client of open) client.destroy();
  };
  return {
    url: url.href,
    move: (next) => {
      ({ port } = next);
      endAll();
    },
    async [Symbol.asyncDispose]() {
      endAll();
      await once(server.close(), "close");
    },
  };
}

interface Pair extends AsyncDisposable {
  readonly primary: PostgresService;
  readonly standby: PostgresService;
}

/** A migrated primary, and a standby that every commit waits for. */
async function replicated(): Promise<Pair> {
  await using made = new AsyncDisposableStack();
  const folder = join(tmpdir(), `nightwriter-failover-${randomUUID()}`);
  const [first, second] = [`${folder}-first`, `${folder}-second`];
  for (const path of [first, second]) made.defer(() => rm(path, { recursive: true, force: true }));
  {
    await using empty = await startPostgres({ dataDir: first });
    await using database = openDatabase({ url: empty.url, applicationName: "test", max: 1 });
    await migrateToLatest(database);
  }
  await promisify(execFile)("cp", ["-a", first, second]);
  const primary = made.use(await startPostgres({ dataDir: first }));
  const { username, password } = new URL(primary.url);
  const source = `host=127.0.0.1 port=${primary.port} user=${username} password=${password} application_name=standby`;
  await writeFile(join(second, "cluster", "standby.signal"), "");
  await appendFile(join(second, "cluster", "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
  const standby = made.use(await startPostgres({ dataDir: second }));
  await using admin = openDatabase({ url: primary.url, applicationName: "test", max: 1 });
  await sql`alter system set synchronous_standby_names = 'standby'`.execute(admin.db);
  await sql`select pg_reload_conf()`.execute(admin.db);
  await until(async () => {
    const { rows } = await sql`select sync_state from pg_stat_replication`.execute(admin.db);
    expect(rows).toEqual([{ sync_state: "sync" }]);
  });
  const running = made.move();
  return { primary, standby, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

test("a standby promoted in mid-night needs nobody: same processes, same epoch, every total exact", async () => {
  await using pair = await replicated();
  await using address = await addressOf(pair.primary);
  await using redis = await startRedis();
  const restaurants = 1_500;
  await using night = await planNight({ store: "redis", restaurants, databaseUrl: address.url, queueUrl: redis.url });
  const before = await currentInstallation(night.database);
  const settings = { LEASE_URL: redis.url, LEASE_MS: "3000", BATCH_SIZE: "4", WORKER_CONCURRENCY: "8" };
  const worker = await night.startWorker("survivor", settings);
  await using scheduler = await spawnApp("apps/scheduler/src/main.ts", {
    DATABASE_URL: address.url,
    QUEUE_URL: redis.url,
    QUEUE_PREFIX: "test",
    LEASE_MS: "3000",
    LOG_FORMAT: "json",
    RECONCILE_INTERVAL_MS: "500",
    CATCH_UP_DAYS: "0",
  });
  await scheduler.waitForLog(({ msg }) => msg === "leading", 60_000);
  await night.enqueue();
  await until(async () => expect(await night.applied()).toBeGreaterThan(50));

  await pair.primary.stop({ mode: "immediate" });
  await using promoted = openDatabase({ url: pair.standby.url, applicationName: "test" });
  await sql`select pg_promote()`.execute(promoted.db);
  const { rows } = await sql<{
    applied: number;
  }>`select count(*)::int as applied from nightwriter.ledger_entry`.execute(promoted.db);
  // It was the middle of the night.
  expect(rows[0]?.applied).toBeGreaterThan(50);
  expect(rows[0]?.applied).toBeLessThan(restaurants);
  await sql`alter system set synchronous_standby_names = ''`.execute(promoted.db);
  await sql`select pg_reload_conf()`.execute(promoted.db);
  address.move(pair.standby);

  await night.finished(restaurants, 90_000);
  await expectExact(night);
  const job = await registerJob(promoted, restaurantTotals);
  expect(await verify(promoted, job, { now: systemClock.now() })).toMatchObject({ clean: true });
  expect(await promoted.db.selectFrom("nightwriter.epoch").select("epoch").execute()).toEqual([{ epoch: 1 }]);
  expect((await currentInstallation(promoted)).id).toBe(before.id);
  for (const app of [worker, scheduler]) expect(app.log.filter(({ level }) => level === "fatal")).toEqual([]);
  scheduler.signal("SIGTERM");
  expect(await scheduler.exited).toMatchObject({ code: 0 });
}, 240_000);
