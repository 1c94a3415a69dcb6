import { openPostgresLeases } from "@nightwriter/lease";
import { startTcpProxy } from "@nightwriter/services";
import { bothPostgres, type PostgresVersion, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { describeLeaseStore, type LeaseServer } from "./contract.ts";

async function start(server: PostgresVersion): Promise<LeaseServer> {
  await using started = new AsyncDisposableStack();
  const { url } = started.use(await testDatabase({ server, max: 1 }));
  const { hold, cut, resume, urlFor } = started.use(await startTcpProxy({ port: Number(new URL(url).port) }));
  const running = started.move();
  return {
    open: (options) => openPostgresLeases({ ...options, url: urlFor(url), applicationName: "leases of a test" }),
    hold,
    cut,
    resume,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

for (const server of bothPostgres) describeLeaseStore(`PostgreSQL ${server}`, () => start(server));

describe("openPostgresLeases", () => {
  const options = { prefix: "test", ttlMs: 30_000, applicationName: "leases of a test" };

  it("says which command mends a database without a schema, and leaves no connection behind", async () => {
    await using test = await testDatabase();
    await sql`drop table nightwriter.lease`.execute(test.db);
    await expect(openPostgresLeases({ ...options, url: test.url })).rejects.toMatchObject({
      name: "LeaseFault",
      code: "lease_store_unfit",
      message: expect.stringContaining("run: nightwriter migrate"),
    });
  });

  it("refuses a wrong password, and does not tell it", async () => {
    await using test = await testDatabase();
    const url = new URL(test.url);
    url.password = "not-the-password";
    const fault: unknown = await openPostgresLeases({ ...options, url: url.href }).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "lease_store_unfit", details: { sqlstate: "28P01" } });
    expect(String(fault)).not.toContain(url.password);
  });

  it("gives a first connection more time than a renewal, since nothing is held yet", async () => {
    await using test = await testDatabase();
    await using proxy = await startTcpProxy({ port: Number(new URL(test.url).port) });
    proxy.hold();
    const opening = openPostgresLeases({ ...options, url: proxy.urlFor(test.url), ttlMs: 3_000 });
    // A renewal, and any call of a store that is open, would have been given up twice by now.
    const patience = new Promise((resolve) => setTimeout(resolve, 1_200, "waits"));
    expect(await Promise.race([opening, patience])).toBe("waits");
    proxy.resume();
    await using store = await opening;
    expect(await store.find([])).toEqual(new Map());
  });

  it("refuses what is no URL of a Postgres", async () => {
    for (const url of ["", "here", "redis://127.0.0.1:6379"]) {
      await expect(openPostgresLeases({ ...options, url })).rejects.toMatchObject({ code: "lease_url_invalid" });
    }
  });

  it("keeps two connections at most, and none once it is closed", async () => {
    await using test = await testDatabase();
    const connections = async (): Promise<number> => {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and application_name = ${options.applicationName}`.execute(test.db);
      return rows[0]?.count ?? 0;
    };
    const store = await openPostgresLeases({ ...options, url: test.url });
    await Promise.all(Array.from({ length: 20 }, () => store.find(["x"])));
    expect(await connections()).toBe(2);
    await store.close();
    await expect.poll(connections).toBe(0);
  });
});
