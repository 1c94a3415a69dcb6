import { type Logger, silentLogger } from "@nightwriter/core";
import { LeaseFault } from "@nightwriter/lease";
import { describe, expect, it } from "vitest";
import { checkServer } from "./server-check.ts";

const sound = { redis_version: "7.4.1", role: "master", maxmemory_policy: "noeviction", aof_enabled: "1" };

function outcomeOf(facts: Readonly<Record<string, string>>): { fault?: LeaseFault; warnings: string[] } {
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (_fields, message = "") => void warnings.push(message) };
  const info = Object.entries(facts).map(([name, value]) => `${name}:${value}\r\n`);
  try {
    checkServer(`# Server\r\n${info.join("")}`, "redis at cache:6379", logger);
    return { warnings };
  } catch (error) {
    if (error instanceof LeaseFault) return { fault: error, warnings };
    throw error;
  }
}

describe("checkServer", () => {
  it("accepts a primary that never evicts and keeps an append-only file", () => {
    expect(outcomeOf(sound)).toEqual({ warnings: [] });
  });

  it("warns of a server that forgets when it restarts", () => {
    const { fault, warnings } = outcomeOf({ ...sound, aof_enabled: "0" });
    expect(fault).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("appendonly is off, a restart forgets leases")]);
  });

  // A lease is a key that expires: the policies for those are as bad as those for all keys.
  it.each(["allkeys-lru", "volatile-ttl", "volatile-lfu"])("refuses %s", (maxmemory_policy) => {
    expect(outcomeOf({ ...sound, maxmemory_policy }).fault).toMatchObject({
      code: "lease_store_unfit",
      message: expect.stringContaining("set maxmemory-policy noeviction"),
    });
  });

  it.each(["6.0.16", "5.0.14", "unknown"])("refuses version %s", (redis_version) => {
    expect(outcomeOf({ ...sound, redis_version }).fault?.message).toContain("6.2 or newer");
  });

  it("names everything that is wrong", () => {
    const { fault } = outcomeOf({ redis_version: "6.0.0", role: "slave", maxmemory_policy: "allkeys-lru" });
    expect(fault?.message).toMatch(/Redis 6\.0\.0;.*it is a slave,.*maxmemory-policy is allkeys-lru/);
  });

  it("refuses a server that does not say what it is", () => {
    expect(outcomeOf({ redis_version: "7.4.1" }).fault?.code).toBe("lease_store_unfit");
  });
});
