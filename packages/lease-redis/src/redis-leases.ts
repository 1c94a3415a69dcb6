/** Leases in Redis: in one server, in the primary that its sentinels name, or in a cluster. */

import type { LeaseSight, LeaseStore } from "@nightwriter/lease";
import { LeaseFault } from "@nightwriter/lease";
import { openClusterLeases } from "./cluster-leases.ts";
import { type LeaseServerOptions, leaseServer } from "./lease-server.ts";
import { type LeaseUrl, parseLeaseUrl } from "./lease-url.ts";
import type { RedisLeasesOptions } from "./redis-leases-options.ts";
import { primaryConnection, serverConnection } from "./server-connection.ts";

/**
 * Connects, and refuses a server that is a replica, may evict keys or is older than 6.2. One connection for all leases of
 * the process; each call is one round trip, and answers or throws LeaseFault within 0.3 of a lease.
 *
 * A lease may be granted twice after the server has forgotten it: a failover to a replica that had not copied it yet, a
 * restart without append-only file, a clock that jumped. Throws LeaseFault, and leaves no connection behind when it does.
 *
 * @example
 * await using leases = await openRedisLeases({ url: "redis://cache:6379", prefix: "nightwriter", ttlMs: 10_000, … });
 */
export async function openRedisLeases(options: RedisLeasesOptions): Promise<LeaseStore> {
  const url = parseLeaseUrl(options.url);
  if (url.form === "redis+cluster") return openClusterLeases(url, options);
  const { prefix, ttlMs, applicationName, logger } = options;
  const common = {
    label: url.label,
    prefix,
    keyMs: ttlMs,
    answerWithinMs: answerWithin(ttlMs),
    applicationName,
    logger,
  };
  const server = leaseServer({ ...common, connection: connectionTo(url, common) });
  try {
    await server.connect();
  } catch (error) {
    await server.close();
    throw error;
  }
  return {
    kind: "redis",
    label: url.label,
    ttlMs,
    acquire: async (claim) => ((await server.take(claim)) ? { storeToken: undefined } : undefined),
    renew: async (claims) => {
      const extended = await server.extend(claims);
      return new Set(claims.filter((_, index) => extended[index]).map(({ name }) => name));
    },
    release: async (claims) => server.drop(claims),
    find: async (names) => sights(names, await server.look(names)),
    claimSlot: {
      label: `leases in ${url.label}`,
      read: async () => server.readClaim(),
      replace: async (before, text) => server.replaceClaim(before, text),
    },
    close: async () => server.close(),
    [Symbol.asyncDispose]: async () => server.close(),
  };
}

/** A third is the promise; the rest is for the process itself. */
function answerWithin(ttlMs: number): number {
  return Math.floor(ttlMs * 0.3);
}

function connectionTo(
  url: LeaseUrl,
  { answerWithinMs }: { readonly answerWithinMs: number },
): LeaseServerOptions["connection"] {
  const [first] = url.addresses;
  if (url.form === "redis+sentinel") return primaryConnection(url, answerWithinMs);
  if (url.form === "redis" && first !== undefined) return serverConnection(url, first);
  throw new LeaseFault("lease_url_invalid", `URL of the lease store: ${url.form}: is not opened here`);
}

function sights(names: readonly string[], looks: readonly (LeaseSight | undefined)[]): ReadonlyMap<string, LeaseSight> {
  const found = new Map<string, LeaseSight>();
  for (const [index, name] of names.entries()) {
    const look = looks[index];
    if (look !== undefined) found.set(name, look);
  }
  return found;
}
