import {
  barrier,
  bothPostgres,
  bothQueues,
  makeRestaurants,
  namedPoints,
  recordSales,
  seededRandom,
  spawnApp,
  testDatabase,
  testQueue,
} from "@nightwriter/testkit";
import { Redis } from "ioredis";
import { sql } from "kysely";
import { describe, expect, test, vi } from "vitest";

describe.each(bothPostgres)("testDatabase on PostgreSQL %s", (server) => {
  test("is a migrated database of its own on that server", async () => {
    await using first = await testDatabase({ server });
    await using second = await testDatabase({ server });
    const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(
      first.db,
    );
    expect(rows[0]?.version).toMatch(new RegExp(`^${server}\\.`));
    const ids = await makeRestaurants(first.db, 2);
    await recordSales(
      first.db,
      ids.map((restaurant) => ({ restaurant, businessDate: "2026-03-01", amountMinor: -5n })),
    );
    const sum = (db: typeof first.db) =>
      db
        .selectFrom("sales.sale")
        .select(({ fn }) => fn.sum<bigint | null>("amount_minor").as("sum"))
        .executeTakeFirst();
    expect(await sum(first.db)).toEqual({ sum: expect.anything() });
    expect(await sum(second.db)).toEqual({ sum: null });
  });

  test("is gone after its disposal", async () => {
    const gone = await testDatabase({ server });
    await gone[Symbol.asyncDispose]();
    await using other = await testDatabase({ server });
    const { rows } = await sql`select datname from pg_database where datname = ${gone.name}`.execute(other.db);
    expect(rows).toEqual([]);
  });
});

describe.each(bothQueues)("testQueue in %s", (store) => {
  test("gives a prefix that nobody else has", async () => {
    await using one = await testQueue(store);
    await using two = await testQueue(store);
    expect(one.prefix).not.toBe(two.prefix);
    expect(new URL(one.url).protocol).toBe(`${store}:`);
  });
});

describe("testQueue in redis", () => {
  test("removes its keys, and no others, at its disposal", async () => {
    await using kept = await testQueue("redis");
    const removed = await testQueue("redis");
    const redis = new Redis(kept.url);
    await redis.mset(`${kept.prefix}:a`, "1", `${removed.prefix}:a`, "1");
    await removed[Symbol.asyncDispose]();
    expect(await redis.mget(`${kept.prefix}:a`, `${removed.prefix}:a`)).toEqual(["1", null]);
    await redis.quit();
  });
});

describe("spawnApp", () => {
  test("hands over the log, JSON or not, and the exit", async () => {
    await using app = await spawnApp("test/testkit/programs/app.ts", { GREETING: "hello" });
    expect(await app.waitForLog(({ msg }) => msg === "ready")).toMatchObject({ level: 30, greeting: "hello" });
    expect(await app.waitForLog(({ msg }) => msg === "not JSON")).toEqual({ msg: "not JSON" });
    app.signal("SIGTERM");
    expect(await app.exited).toEqual({ code: 0, signal: null });
    expect(app.log.at(-1)).toMatchObject({ msg: "left" });
  });

  test("rejects a wait for a line that can no longer come", async () => {
    await using app = await spawnApp("test/testkit/programs/app.ts", {});
    const never = app.waitForLog(({ msg }) => msg === "never");
    app.signal("SIGKILL");
    await expect(never).rejects.toThrow(/before it ended/);
    expect(await app.exited).toEqual({ code: null, signal: "SIGKILL" });
  });
});

describe("barrier", () => {
  test("lets nobody go before all are there", async () => {
    const { arrive } = barrier(3);
    const passed: string[] = [];
    const party = async (name: string) => {
      await arrive();
      passed.push(name);
    };
    const parties = [party("a"), party("b")];
    await new Promise(setImmediate);
    expect(passed).toEqual([]);
    await Promise.all([...parties, party("c")]);
    expect(passed.toSorted()).toEqual(["a", "b", "c"]);
  });
});

describe("namedPoints", () => {
  test("hold whoever stops at one until it is released", async () => {
    const points = namedPoints();
    const steps: string[] = [];
    const party = (async () => {
      steps.push("before");
      await points.stopAt("commit");
      steps.push("after");
    })();
    await points.reached("commit");
    expect(steps).toEqual(["before"]);
    points.release("commit");
    await party;
    expect(steps).toEqual(["before", "after"]);
    await points.stopAt("commit");
  });
});

describe("seededRandom", () => {
  test("prints its seed and gives the same numbers for it again", () => {
    const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      const first = seededRandom();
      expect(printed).toHaveBeenCalledWith(`randomised test: SEED=${first.seed}\n`);
      vi.stubEnv("SEED", String(first.seed));
      const second = seededRandom();
      expect(Array.from({ length: 5 }, second.next)).toEqual(Array.from({ length: 5 }, first.next));
      expect(new Set(Array.from({ length: 1_000 }, () => second.below(3)))).toEqual(new Set([0, 1, 2]));
    } finally {
      printed.mockRestore();
      vi.unstubAllEnvs();
    }
  });
});
