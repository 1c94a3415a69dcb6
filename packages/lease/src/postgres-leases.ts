/** Leases in Postgres, on connections of their own: whatever the ledger is at, a lease is renewed in time. */
import { type Logger, silentLogger } from "@nightwriter/core";
import { type DatabaseOptions, openDatabase, type SqlFault, sqlFault } from "@nightwriter/database";
import { claimTable } from "./claim-table.ts";
import { LeaseFault, type LeaseStore } from "./lease-store.ts";
import { leaseTable } from "./lease-table.ts";

export interface PostgresLeasesOptions {
  /** postgres: or postgresql:. A database that `nightwriter migrate` has brought up to date. */
  readonly url: string;
  /** Keeps installations apart that share the database. */
  readonly prefix: string;
  /** The length of a lease, in milliseconds. */
  readonly ttlMs: number;
  /** How this process shows in pg_stat_activity. */
  readonly applicationName: string;
  readonly logger?: Logger;
}

/**
 * Nothing is held yet, so whoever opens a store may wait for longer than a renewal: a busy machine may need that for a first
 * connection. Counted in tries, so that a server that refuses is told at once.
 */
const openWithinMs = 5_000;

/**
 * Opens a store that keeps two connections at most, and sees that its table is there. Throws LeaseFault, and leaves no
 * connection behind when it does.
 */
export async function openPostgresLeases(options: PostgresLeasesOptions): Promise<LeaseStore> {
  const { url, ttlMs, applicationName, logger = silentLogger } = options;
  const server = serverOf(url);
  const database = openDatabase({ url, applicationName, max: 2, logger, ...limits(ttlMs) });
  const table = leaseTable(database.db, options);
  const claim = claimTable(database.db, options.prefix);
  const label = `postgres at ${server}`;
  const ask = async <Answer>(answer: Promise<Answer>): Promise<Answer> =>
    answer.catch((error: unknown) => Promise.reject(leaseFault(sqlFault(error), server)));
  const store: LeaseStore = {
    kind: "postgres",
    label,
    ttlMs,
    acquire: (claim) => ask(table.acquire(claim)),
    renew: (claims) => ask(table.renew(claims)),
    release: (claims) => ask(table.release(claims)),
    find: (names) => ask(table.find(names)),
    claimSlot: {
      label: `leases in ${label}`,
      read: () => ask(claim.read()),
      replace: (before, text) => ask(claim.replace(before, text)),
    },
    close: () => database.close(),
    [Symbol.asyncDispose]: () => database.close(),
  };
  for (let tries = Math.ceil(openWithinMs / Math.floor(ttlMs / 6)); ; tries--) {
    try {
      await store.find([]);
      return store;
    } catch (error) {
      if (tries > 1 && error instanceof LeaseFault && error.retryable) continue;
      await store.close();
      throw error;
    }
  }
}

/**
 * A connection, for which the server must start a process, and a statement on it answer or fail within a third of a lease
 * together. The server gives up before we do.
 */
function limits(ttlMs: number): Partial<DatabaseOptions> {
  const workMs = Math.floor(ttlMs / 8);
  return {
    connectTimeoutMs: Math.floor(ttlMs / 6),
    queryTimeoutMs: Math.floor(ttlMs / 7),
    statementTimeoutMs: workMs,
    lockTimeoutMs: workMs,
  };
}

/** Server and database, as an operator knows them; never credentials. */
function serverOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !["postgres:", "postgresql:"].includes(parsed.protocol)) {
    throw new LeaseFault(
      "lease_url_invalid",
      "leases in postgres: not a URL; use postgres://user:password@host/database",
    );
  }
  return parsed.host + parsed.pathname;
}

/** Wrong credentials (28), no such database (3D), a missing table or privilege (42): waiting does not help. */
const unfit = new Set(["28", "3D", "42"]);

function leaseFault(fault: SqlFault, server: string): LeaseFault {
  const details = { server, sqlstate: fault.sqlstate ?? null };
  if (unfit.has(fault.sqlstate?.slice(0, 2) ?? "")) {
    const remedy = "see user and password of LEASE_URL, and run: nightwriter migrate";
    const message = `leases in postgres at ${server}: ${fault.message}; ${remedy}`;
    return new LeaseFault("lease_store_unfit", message, { details, cause: fault });
  }
  const message = `leases in postgres at ${server}: ${fault.message}; asked again until it answers`;
  return new LeaseFault("lease_store_away", message, { details, retryable: true, cause: fault });
}
