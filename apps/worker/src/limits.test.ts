import { loadConfig } from "@nightwriter/config";
import { describe, expect, it } from "vitest";
import { fleetLimits, writeLimits } from "./limits.ts";

const at = (environment: Readonly<Record<string, string>>) =>
  loadConfig({ DATABASE_URL: "postgres://127.0.0.1/night", ...environment });

describe("limits", () => {
  it("are the configured ones without leases", () => {
    const config = at({ LEASE_URL: "none", STATEMENT_TIMEOUT_MS: "40000", QUERY_TIMEOUT_MS: "45000" });
    expect(writeLimits(config)).toMatchObject({ statementTimeoutMs: 40_000, queryTimeoutMs: 45_000 });
  });

  it.each(["1000", "2000", "10000", "60000"])(
    "end a statement before a lease of %s ms can, the server before the client",
    (leaseMs) => {
      for (const limits of [writeLimits(at({ LEASE_MS: leaseMs })), fleetLimits(at({ LEASE_MS: leaseMs }))]) {
        expect(limits.lockTimeoutMs).toBeLessThan(limits.statementTimeoutMs);
        expect(limits.statementTimeoutMs).toBeLessThan(limits.queryTimeoutMs);
        expect(limits.queryTimeoutMs).toBeLessThan(Number(leaseMs));
      }
    },
  );

  it("are no longer than configured where that is shorter than the lease wants", () => {
    const config = at({ LEASE_MS: "600000", LOCK_TIMEOUT_MS: "100" });
    expect(writeLimits(config)).toEqual({
      statementTimeoutMs: 30_000,
      lockTimeoutMs: 100,
      queryTimeoutMs: 35_000,
      connectTimeoutMs: 10_000,
    });
  });
});
