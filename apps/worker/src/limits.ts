/**
 * How long anything may take at the database. Whoever holds leases must be done, one way or the other, before they end: all
 * limits are parts of the lease's length, and cut the configured ones where those are longer.
 */
import type { Config } from "@nightwriter/config";
import type { DatabaseOptions } from "@nightwriter/database";
import { toleranceMs } from "@nightwriter/lease";

type Limits = Required<
  Pick<DatabaseOptions, "statementTimeoutMs" | "lockTimeoutMs" | "queryTimeoutMs" | "connectTimeoutMs">
>;

/** For guarded statements. The server speaks first: it gives up before the client does. */
export function writeLimits({ statementTimeoutMs, lockTimeoutMs, queryTimeoutMs, leaseUrl, leaseMs }: Config): Limits {
  const share = (ms: number, ofLease: number): number =>
    leaseUrl === "none" ? ms : Math.min(ms, Math.round(leaseMs * ofLease));
  return {
    statementTimeoutMs: share(statementTimeoutMs, 0.6),
    lockTimeoutMs: share(lockTimeoutMs, 0.5),
    queryTimeoutMs: share(queryTimeoutMs, 0.8),
    connectTimeoutMs: leaseUrl === "none" ? 10_000 : connectTimeoutMs(leaseMs),
  };
}

/** For the small statements of the fleet, which take a millisecond when all is well: after these, all is not. */
export function fleetLimits({ leaseMs }: Config): Limits {
  return {
    statementTimeoutMs: toleranceMs(leaseMs, 0.15),
    lockTimeoutMs: toleranceMs(leaseMs, 0.1),
    queryTimeoutMs: toleranceMs(leaseMs, 0.2),
    connectTimeoutMs: connectTimeoutMs(leaseMs),
  };
}

/** Nothing is sent before there is a connection, and a process that starts on a busy machine may need a while for its first. */
function connectTimeoutMs(leaseMs: number): number {
  return Math.min(10_000, Math.max(2_000, Math.round(leaseMs * 0.2)));
}
