/** Two databases, one Redis, one prefix: real processes, of this build and of the one before it. */
import { silentLogger, systemClock } from "@nightwriter/core";
import { createClaimant, currentInstallation, takeOver } from "@nightwriter/installation";
import { registerJob } from "@nightwriter/job";
import { connectQueues } from "@nightwriter/queue";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import {
  type App,
  type OlderBuild,
  olderBuild,
  type QueueStore,
  spawnApp,
  type TestDatabase,
  type TestQueue,
  testDatabase,
  testQueue,
} from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";

const entries = ["apps/scheduler/src/main.ts", "apps/worker/src/main.ts", "apps/dashboard/src/main.ts"] as const;
const [scheduler, worker] = entries;

function environment({ url }: TestDatabase, queue: TestQueue): Record<string, string> {
  return {
    DATABASE_URL: url,
    QUEUE_URL: queue.url,
    QUEUE_PREFIX: queue.prefix,
    LEASE_MS: "2000",
    LOG_FORMAT: "json",
    DASHBOARD_PORT: "0",
  };
}

/** Waits until it has ended by itself; the fault that it logged last. */
async function refusal(app: App): Promise<unknown> {
  expect(await app.exited).toEqual({ code: 1, signal: null });
  expect(app.log.at(-1)).toMatchObject({ level: "fatal" });
  return app.log.at(-1)?.["err"];
}

const ready = (app: App): Promise<unknown> => app.waitForLog(({ msg }) => msg?.endsWith(" ready") === true, 60_000);
const fatal = (apps: readonly App[]): unknown[] =>
  apps.flatMap(({ log }) => log.filter(({ level }) => level === "fatal"));

interface Two extends AsyncDisposable {
  readonly queue: TestQueue;
  readonly first: TestDatabase;
  readonly second: TestDatabase;
  readonly start: (entry: string, of: TestDatabase, build?: OlderBuild) => Promise<App>;
}

async function twoInstallations(store: QueueStore): Promise<Two> {
  await using made = new AsyncDisposableStack();
  const queue = made.use(await testQueue(store));
  const first = made.use(await testDatabase());
  const second = made.use(await testDatabase());
  for (const { database } of [first, second]) await registerJob(database, restaurantTotals);
  const running = made.move();
  return {
    queue,
    first,
    second,
    start: async (entry, of, build) =>
      running.use(await spawnApp(entry, environment(of, queue), build === undefined ? {} : { build })),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

describe.each<QueueStore>(["redis", "postgres"])("a second installation under one prefix in %s", (store) => {
  test("is refused at its start, whatever process it is, with both names and the remedy; the first goes on", async () => {
    await using two = await twoInstallations(store);
    const { first, second } = two;
    const there = await Promise.all([scheduler, worker].map(async (entry) => two.start(entry, first)));
    await Promise.all(there.map(ready));
    const late = await Promise.all(entries.map(async (entry) => two.start(entry, second)));
    for (const fault of await Promise.all(late.map(refusal))) {
      expect(fault).toMatchObject({
        code: "prefix_claimed",
        message: expect.stringMatching(RegExp(`${first.name} at.*${second.name} at.*QUEUE_PREFIX.*take-over`)),
      });
    }
    expect(fatal(there)).toEqual([]);
  }, 180_000);
});

describe("an installation whose prefix was taken over by hand", () => {
  test("ends, every process of it, and says who has it now", async () => {
    await using two = await twoInstallations("redis");
    const there = await Promise.all(entries.map(async (entry) => two.start(entry, two.first)));
    await Promise.all(there.map(ready));
    const other = await currentInstallation(two.second.database);
    await using queues = await connectQueues({ ...two.queue, applicationName: "test" });
    await takeOver(queues.claimSlot, other, { by: "test", now: systemClock.now() });
    for (const fault of await Promise.all(there.map(refusal))) {
      expect(fault).toMatchObject({ code: "prefix_claimed", details: { claimedBy: other.id } });
    }
  }, 180_000);
});

describe("a build that knows no claims", () => {
  test("works beside this one on the same prefix and database, and neither is in the other's way", async () => {
    const build = await olderBuild("c241fd6", "a scheduler and a worker of c241fd6 beside those of this build");
    await using two = await twoInstallations("redis");
    const starting = [two.start(scheduler, two.first), two.start(worker, two.first)];
    if (build !== undefined) {
      starting.push(two.start(scheduler, two.first, build), two.start(worker, two.first, build));
    }
    const beside = await Promise.all(starting);
    await Promise.all(beside.map(ready));
    await using queues = await connectQueues({ ...two.queue, applicationName: "test" });
    const installation = await currentInstallation(two.first.database);
    const slots = [queues.claimSlot];
    const options = { installation, prefix: two.queue.prefix, slots, by: "test", clock: systemClock };
    await createClaimant({ ...options, logger: silentLogger }).look();
    expect(fatal(beside)).toEqual([]);
  }, 180_000);
});
