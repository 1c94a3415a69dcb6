/** Leases as a test asks for them, and what it gets instead. */
import { randomUUID } from "node:crypto";
import { silentLogger } from "@nightwriter/core";
import { type LeaseClaim, LeaseFault, type LeaseStore } from "@nightwriter/lease";
import { openRedisLeases, type RedisLeasesOptions } from "@nightwriter/lease-redis";

/** What a store of leases in Redis is opened with where the test does not say otherwise. */
export const optionsOfATest: Omit<RedisLeasesOptions, "url"> = {
  prefix: "test",
  ttlMs: 30_000,
  applicationName: "leases-of-a-test",
  logger: silentLogger,
};

/** Opens the store of leases in Redis. */
export async function openInRedis(options: { url: string; prefix?: string; ttlMs?: number }): Promise<LeaseStore> {
  return openRedisLeases({ ...optionsOfATest, ...options });
}

/** A claim with a nonce of its own. */
export function claimOf(name: string, holder = "a"): LeaseClaim {
  return { name, holder, nonce: randomUUID() };
}

/** The LeaseFault that the work ends with. Throws when it ends with anything else. */
export async function faultOf(work: Promise<unknown>): Promise<LeaseFault> {
  const fault: unknown = await work.catch((error: unknown) => error);
  if (fault instanceof LeaseFault) return fault;
  throw new Error(`no LeaseFault: ${String(fault)}`);
}
