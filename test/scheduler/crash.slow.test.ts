import { openDatabase } from "@nightwriter/database";
import { lockPlanning } from "@nightwriter/run";
import { startRedis } from "@nightwriter/services";
import { advisoryWaiter, heldBack, type QueueStore, testQueue } from "@nightwriter/testkit";
import { Redis } from "ioredis";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { dueNight, endInOrder, enqueued } from "./fixture.ts";

/** A queue of a test's own whose store can be told to take no writes, until they are let go. */
interface StallingQueue extends AsyncDisposable {
  readonly url: string;
  stall(): Promise<void>;
  letGo(): Promise<void>;
}

/** Redis holds writes back by itself; its server must be nobody else's. */
async function stallingRedis(): Promise<StallingQueue> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await startRedis());
  const redis = new Redis(url);
  stack.defer(async () => void (await redis.quit()));
  const all = stack.move();
  return {
    url,
    stall: async () => void (await redis.call("client", "pause", "600000", "write")),
    letGo: async () => void (await redis.call("client", "unpause")),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** PostgreSQL holds them back by a lock on the tables that BullMQ has made. */
async function stallingPostgres(): Promise<StallingQueue> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await testQueue("postgres"));
  const database = stack.use(openDatabase({ url, applicationName: "test of the scheduler" }));
  const lock = stack.use(await heldBack(database));
  const all = stack.move();
  return {
    url,
    stall: () =>
      lock.run(`do $$ declare name text; begin
        for name in select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'test_queue' loop
          execute 'lock table ' || name || ' in exclusive mode';
        end loop; end $$`),
    letGo: async () => {
      // What the killed one had sent waits as well: its server process does not see that nobody is there any more.
      await sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity
        where datname = current_database() and application_name like 'scheduler %'`.execute(database.db);
      await lock.commit();
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const stores: readonly [QueueStore, () => Promise<StallingQueue>][] = [
  ["redis", stallingRedis],
  ["postgres", stallingPostgres],
];

describe.each(stores)("a scheduler with a queue in %s that is killed between plan and enqueue", (store, openQueue) => {
  it("loses nothing: the next one enqueues what is due, under the generation it had", async () => {
    await using queue = await openQueue();
    await using night = await dueNight({ store, restaurants: 40, queueUrl: queue.url });
    const killed = await night.db.transaction().execute(async (transaction) => {
      await lockPlanning(transaction, night.job.id);
      const scheduler = await night.start();
      await scheduler.waitForLog(({ msg }) => msg === "scheduler ready", 60_000);
      await advisoryWaiter(night.db);
      await queue.stall();
      return scheduler;
    });
    await killed.waitForLog(({ msg }) => msg === "night planned", 60_000);
    killed.signal("SIGKILL");
    expect(await killed.exited).toMatchObject({ signal: "SIGKILL" });
    expect(killed.log.filter(({ msg }) => msg === "night enqueued")).toEqual([]);
    await queue.letGo();
    expect(await night.runs()).toMatchObject([{ total: 40, due: 40 }]);
    expect(await night.waiting()).toBe(0);

    const next = await night.start();
    await next.waitForLog(({ msg, missing }) => msg === "queue mended" && missing === 40, 60_000);
    await enqueued(night);
    expect(next.log.filter(({ msg }) => msg === "night planned")).toEqual([]);
    await endInOrder(next);
  }, 180_000);
});
