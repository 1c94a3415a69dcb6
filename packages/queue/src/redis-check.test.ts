import { describe, expect, it } from "vitest";
import { QueueFault } from "./index.ts";
import { checkRedis } from "./redis-check.ts";

const sound = { redis_version: "7.4.1", role: "master", maxmemory_policy: "noeviction", aof_enabled: "1" };

function faultOf(facts: Readonly<Record<string, string>>): QueueFault | undefined {
  const info = `# Server\r\n${Object.entries(facts)
    .map(([name, value]) => `${name}:${value}\r\n`)
    .join("")}`;
  try {
    checkRedis(info, "redis at cache:6379");
    return undefined;
  } catch (error) {
    if (error instanceof QueueFault) return error;
    throw error;
  }
}

describe("checkRedis", () => {
  it("accepts a primary that never evicts and keeps an append-only file", () => {
    expect(faultOf(sound)).toBeUndefined();
  });

  it("accepts a Valkey, which reports the Redis it is compatible with", () => {
    expect(
      faultOf({ ...sound, redis_version: "7.2.4", server_name: "valkey", valkey_version: "8.0.1" }),
    ).toBeUndefined();
  });

  it.each(["5.0.14", "6.0.16", "3.2.0", "unknown"])("refuses version %s", (redis_version) => {
    expect(faultOf({ ...sound, redis_version })).toMatchObject({
      code: "queue_unsupported",
      message: `queue redis at cache:6379: Redis ${redis_version}; BullMQ needs 6.2 or newer: upgrade it`,
    });
  });

  it.each(["6.2.0", "7.0.15", "10.0.0"])("accepts version %s", (redis_version) => {
    expect(faultOf({ ...sound, redis_version })).toBeUndefined();
  });

  it("names everything that is wrong, each with its remedy", () => {
    const fault = faultOf({ ...sound, role: "slave", maxmemory_policy: "allkeys-lru", aof_enabled: "0" });
    expect(fault?.code).toBe("queue_misconfigured");
    expect(fault?.message).toMatch(
      /it is a slave, .*use the primary's address.*; maxmemory-policy is allkeys-lru, .*set maxmemory-policy noeviction; appendonly is off, .*set appendonly yes$/,
    );
  });

  it("refuses a server that does not say what it is", () => {
    expect(faultOf({ redis_version: "7.4.1" })?.code).toBe("queue_misconfigured");
  });
});
