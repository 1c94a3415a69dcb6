import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ensureServer, startGuarded, startRedis } from "@nightwriter/services";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";

async function withClient<Result>(url: string, work: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

describe("startRedis", () => {
  test("starts a server that keeps what it is given and never evicts", async () => {
    await using redis = await startRedis();
    const settings = await withClient(redis.url, (client) => client.config("GET", "appendonly", "maxmemory-policy"));
    expect(settings).toEqual(expect.arrayContaining(["appendonly", "yes", "maxmemory-policy", "noeviction"]));
  });

  test("takes more arguments, which win", async () => {
    await using redis = await startRedis({ args: ["--maxmemory-policy", "allkeys-lru"] });
    const settings = await withClient(redis.url, (client) => client.config("GET", "maxmemory-policy"));
    expect(settings).toEqual(["maxmemory-policy", "allkeys-lru"]);
  });

  test("refuses whoever does not know the password", async () => {
    await using redis = await startRedis();
    const socket = connect(redis.port, "127.0.0.1").end("get key\r\n");
    expect(await text(socket)).toMatch(/^-NOAUTH /);
  });

  test("has all that it acknowledged after SIGKILL if it writes out before it answers", async () => {
    const dir = await mkdtemp(join(tmpdir(), "nightwriter-test-"));
    const killed = await startRedis({ dir, args: ["--appendfsync", "always"] });
    await withClient(killed.url, (client) => client.set("key", "kept"));
    await killed.kill();
    expect(await killed.exited).toEqual({ code: null, signal: "SIGKILL" });
    await using again = await startRedis({ dir });
    expect(await withClient(again.url, (client) => client.get("key"))).toBe("kept");
    await again.stop();
    await rm(dir, { recursive: true });
  });

  test("removes a temporary folder with the server", async () => {
    const redis = await startRedis();
    await redis.stop();
    expect(existsSync(redis.dir)).toBe(false);
    expect(existsSync(`/proc/${redis.pid}/cwd`)).toBe(false);
  });

  test("follows a primary", async () => {
    await using primary = await startRedis();
    await using replica = await startRedis({ replicaOf: primary.url });
    const copies = await withClient(primary.url, async (client) => {
      await client.set("key", "copied");
      return client.wait(1, 20_000);
    });
    expect(copies).toBe(1);
    expect(await withClient(replica.url, (client) => client.get("key"))).toBe("copied");
  });

  test("shows the server's own words when an argument is wrong", async () => {
    await expect(startRedis({ args: ["--nonsense", "1"] })).rejects.toMatchObject({
      code: "did-not-start",
      message: expect.stringContaining("nonsense"),
    });
  });
});

describe("ensureServer", () => {
  test("finds the programs that it has installed, and installs nothing twice", async () => {
    const said: string[] = [];
    for (const server of ["redis", "postgres-15"] as const) await ensureServer(server);
    const redis = await ensureServer("redis", (line) => said.push(line));
    const folder = await ensureServer("postgres-15", (line) => said.push(line));
    expect(existsSync(redis)).toBe(true);
    expect(existsSync(join(folder, "initdb"))).toBe(true);
    expect(said).toEqual([]);
  });

  test("says what to install, in one line, where it cannot", async () => {
    await using asked = await startGuarded({
      file: process.execPath,
      args: [join(import.meta.dirname, "programs/without-servers.ts")],
      environment: { PATH: "/nowhere" },
      onlyEnvironment: true,
    });
    await asked.closed;
    const hint = expect.stringMatching(/redis-server: not found on PATH; install .*apt-get install redis-server/);
    expect(asked.tail().map((line) => JSON.parse(line))).toEqual([{ msg: hint }, { msg: hint }]);
  });
});
