import { ensureServer, startRedis } from "@nightwriter/services";
import { beforeAll, describe, expect, test } from "vitest";

beforeAll(async () => {
  await ensureServer("redis");
  await ensureServer("faketime");
}, 300_000);

describe("startRedis with a movable clock", () => {
  test("has a key end when the clock jumps over its end, and not before", async () => {
    await using redis = await startRedis({ movableClock: true });
    await redis.ask("set", "lease", "a", "px", "600000");
    await redis.moveClock(300_000);
    expect(await redis.ask("get", "lease")).toBe("a");
    expect(Number(await redis.ask("pttl", "lease"))).toBeLessThan(300_001);
    await redis.moveClock(300_000);
    expect(await redis.ask("get", "lease")).toBe("");
  });

  test("has a key live longer when the clock jumps back", async () => {
    await using redis = await startRedis({ movableClock: true });
    await redis.ask("set", "lease", "a", "px", "600000");
    await redis.moveClock(-3_600_000);
    expect(Number(await redis.ask("pttl", "lease"))).toBeGreaterThan(3_600_000);
  });
});

describe("RedisService.ask", () => {
  test("answers as text, and makes a replica a primary", async () => {
    await using primary = await startRedis();
    await using replica = await startRedis({ replicaOf: primary.url });
    expect(await replica.ask("info", "replication")).toContain("role:slave");
    await expect(replica.ask("set", "key", "value")).rejects.toMatchObject({
      code: "no-answer",
      message: expect.stringContaining("READONLY"),
    });
    expect(await replica.ask("replicaof", "no", "one")).toBe("OK");
    expect(await replica.ask("set", "key", "value")).toBe("OK");
    expect(await replica.ask("get", "key")).toBe("value");
    expect(await replica.ask("exists", "key")).toBe("1");
  });

  test("throws when there is no server any more", async () => {
    const redis = await startRedis();
    await redis.stop();
    await expect(redis.ask("ping")).rejects.toMatchObject({ code: "no-answer", retryable: true });
  });
});
