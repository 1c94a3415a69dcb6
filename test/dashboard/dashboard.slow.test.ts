import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { recordSchedulerHeartbeat } from "@nightwriter/fleet";
import { registerJob } from "@nightwriter/job";
import { connectQueues } from "@nightwriter/queue";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { resizePartitions } from "@nightwriter/run";
import { type App, bothQueues, spawnApp, testDatabase, testQueue } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

interface Running extends AsyncDisposable {
  readonly app: App;
  readonly get: (path: string, init?: RequestInit) => Promise<Response>;
  readonly url: string;
}

async function startDashboard(environment: Readonly<Record<string, string>>): Promise<Running> {
  const app = await spawnApp("apps/dashboard/src/main.ts", { DASHBOARD_PORT: "0", LOG_FORMAT: "json", ...environment });
  const { url } = await app.waitForLog(({ msg }) => msg === "dashboard ready");
  return {
    app,
    url: String(url),
    get: (path, init) => fetch(new URL(path, String(url)), init),
    async [Symbol.asyncDispose]() {
      app.signal("SIGTERM");
      await app.exited;
      await app[Symbol.asyncDispose]();
    },
  };
}

describe.each(bothQueues)("the dashboard of a queue in %s", (store) => {
  test("shows every partition of every job, and the jobs in them", async () => {
    await using kept = await testDatabase();
    await using queue = await testQueue(store);
    const { partitionCount } = await registerJob(kept.database, restaurantTotals);
    await using queues = await connectQueues({ ...queue, applicationName: "test" });
    const { name: job } = restaurantTotals;
    await queues.partition(job, 7).enqueue([{ runId: "1", key: "पिज़्ज़ा 7", businessDate: "2026-11-01", generation: 0 }]);
    await using dashboard = await startDashboard({
      DATABASE_URL: kept.url,
      QUEUE_URL: queue.url,
      QUEUE_PREFIX: queue.prefix,
    });

    const page = await dashboard.get("/");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("Nightwriter");
    const listed = (await (await dashboard.get("/api/queues")).json()) as {
      queues: { name: string; readOnlyMode: boolean }[];
    };
    expect(listed.queues.map(({ name }) => name)).toEqual(
      Array.from({ length: partitionCount }, (_, index) => `{${job}-${index}}`),
    );
    expect(listed.queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);

    const name = encodeURIComponent(`{${job}-7}`);
    expect((await dashboard.get(`/queue/${name}`)).status).toBe(200);
    const active = (await (await dashboard.get(`/api/queues?activeQueue=${name}&status=waiting`)).json()) as {
      queues: { name: string; counts: Record<string, number>; jobs: { id: string; data: unknown }[] }[];
    };
    const seventh = active.queues.find((each) => each.name === `{${job}-7}`);
    expect(seventh?.counts).toMatchObject({ waiting: 1 });
    expect(seventh?.jobs.map(({ data }) => data)).toEqual([
      { runId: "1", key: "पिज़्ज़ा 7", businessDate: "2026-11-01", generation: 0 },
    ]);
    const jobPath = `/api/queues/${name}/${encodeURIComponent(seventh?.jobs[0]?.id ?? "")}`;
    expect((await dashboard.get(jobPath)).status).toBe(200);
    expect((await dashboard.get("/api/redis/stats")).status).toBe(200);
  });

  test("shows the partitions that there are now, after their number was changed", async () => {
    await using kept = await testDatabase();
    await using queue = await testQueue(store);
    const job = await registerJob(kept.database, restaurantTotals);
    await using dashboard = await startDashboard({
      DATABASE_URL: kept.url,
      QUEUE_URL: queue.url,
      QUEUE_PREFIX: queue.prefix,
    });
    const shown = async (): Promise<number> => {
      const { queues } = (await (await dashboard.get("/api/queues")).json()) as { queues: unknown[] };
      return queues.length;
    };
    expect(await shown()).toBe(16);
    for (const count of [20, 8]) {
      await resizePartitions(kept.database, job, count);
      await expect.poll(shown, { timeout: 20_000, interval: 100 }).toBe(count);
    }
  });

  test("changes nothing, whoever asks", async () => {
    await using kept = await testDatabase();
    await using queue = await testQueue(store);
    await registerJob(kept.database, restaurantTotals);
    await using queues = await connectQueues({ ...queue, applicationName: "test" });
    const partition = queues.partition(restaurantTotals.name, 0);
    await partition.enqueue([{ runId: "1", key: "7", businessDate: "2026-11-01", generation: 0 }]);
    await using dashboard = await startDashboard({
      DATABASE_URL: kept.url,
      QUEUE_URL: queue.url,
      QUEUE_PREFIX: queue.prefix,
    });
    const name = encodeURIComponent(partition.name);
    const statuses = await Promise.all(
      ["obliterate", "empty", "pause", "clean/waiting"].map(
        async (verb) => (await dashboard.get(`/api/queues/${name}/${verb}`, { method: "PUT" })).status,
      ),
    );
    expect(statuses).toEqual([405, 405, 405, 405]);
    expect((await partition.counts()).waiting).toBe(1);
  });

  test("is healthy as long as database and queue answer, a scheduler leads and nights happen, and ends in order", async () => {
    await using kept = await testDatabase();
    await using queue = await testQueue(store);
    await using dashboard = await startDashboard({
      DATABASE_URL: kept.url,
      QUEUE_URL: queue.url,
      QUEUE_PREFIX: queue.prefix,
    });
    const health = async (): Promise<[number, unknown]> => {
      const answer = await dashboard.get("/healthz");
      return [answer.status, await answer.json()];
    };
    expect(await health()).toEqual([
      503,
      expect.objectContaining({ database: "ok", queue: "ok", schedulers: "no leader" }),
    ]);
    const { database, db } = kept;
    const identity = { name: "leader", host: "here", pid: 7, upMs: 5, clockAheadMs: 0, hindrance: undefined };
    await recordSchedulerHeartbeat(database, { ...identity, leads: true });
    expect(await health()).toEqual([
      200,
      expect.objectContaining({
        schedulers: "ok",
        nights: "ok",
        heartbeats: [expect.objectContaining({ leads: true })],
      }),
    ]);
    await registerJob(database, restaurantTotals);
    await sql`update nightwriter.job set created_at = now() - interval '3 days'`.execute(db);
    expect(await health()).toEqual([503, expect.objectContaining({ schedulers: "ok", nights: "missing" })]);
    expect((await dashboard.get("/livez")).status).toBe(200);
    await sql`update nightwriter.scheduler set seen_at = now() - interval '31 seconds'`.execute(db);
    expect(await health()).toEqual([503, expect.objectContaining({ schedulers: "no leader" })]);
    dashboard.app.signal("SIGTERM");
    expect(await dashboard.app.exited).toMatchObject({ code: 0 });
  });
});

test("a request that was addressed to another site's name is refused", async () => {
  await using kept = await testDatabase();
  await using queue = await testQueue("redis");
  await using dashboard = await startDashboard({
    DATABASE_URL: kept.url,
    QUEUE_URL: queue.url,
    QUEUE_PREFIX: queue.prefix,
  });
  // fetch does not let a Host header through.
  const asked = request(new URL("/api/queues", dashboard.url), { headers: { host: "evil.example" } }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(403);
});

test("jobs that are registered while it runs appear", async () => {
  await using kept = await testDatabase();
  await using queue = await testQueue("redis");
  await using dashboard = await startDashboard({
    DATABASE_URL: kept.url,
    QUEUE_URL: queue.url,
    QUEUE_PREFIX: queue.prefix,
  });
  const count = async (): Promise<number> =>
    ((await (await dashboard.get("/api/queues")).json()) as { queues: object[] }).queues.length;
  expect(await count()).toBe(0);
  const { partitionCount } = await registerJob(kept.database, restaurantTotals);
  await expect.poll(count, { timeout: 20_000, interval: 200 }).toBe(partitionCount);
});

test.each(["0.0.0.0", "::", "192.168.1.7"])("refuses to listen on %s", async (DASHBOARD_HOST) => {
  await using app = await spawnApp("apps/dashboard/src/main.ts", {
    DATABASE_URL: "postgres://127.0.0.1:1/none",
    DASHBOARD_HOST,
    LOG_FORMAT: "json",
  });
  expect(await app.exited).toMatchObject({ code: 1 });
  expect(app.log.map(({ err }) => err)).toEqual([expect.objectContaining({ code: "dashboard_host_not_loopback" })]);
});
