import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { ConfigFault, type Environment, listSettings, loadConfig } from "./index.ts";

const url = "postgres://night:secret@db:5432/night";

function faultOf(env: Environment): ConfigFault {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigFault) return error;
    throw error;
  }
  throw new Error("the environment was accepted");
}

describe("loadConfig", () => {
  it("needs nothing but DATABASE_URL, where the queue lives too", () => {
    expect(loadConfig({ DATABASE_URL: url })).toMatchObject({
      databaseUrl: url,
      queueUrl: url,
      queuePrefix: "nightwriter",
      leaseUrl: url,
      leaseMs: 10_000,
      leaseMarginMs: 1_000,
      logLevel: "info",
      batchSize: 200,
      dashboardHost: "127.0.0.1",
    });
  });

  it("takes an empty text as absent", () => {
    expect(loadConfig({ DATABASE_URL: url, QUEUE_URL: "", BATCH_SIZE: "" })).toMatchObject({
      queueUrl: url,
      batchSize: 200,
    });
  });

  it("names every wrong variable with its value and its remedy in one fault", () => {
    const fault = faultOf({
      DATABASE_URL: "mysql://db/night",
      QUEUE_URL: "amqp://mq",
      BATCH_SIZE: "500",
      LOG_LEVEL: "loud",
      CATCH_UP_DAYS: "-1",
    });
    expect(fault.message.split("\n")).toEqual([
      "configuration: 5 settings are wrong",
      `  DATABASE_URL="mysql://db/night": not accepted; set it to a URL like postgres://user:password@host:5432/database (postgres:, postgresql:)`,
      `  QUEUE_URL="amqp://mq": not accepted; set it to a URL like redis://host:6379/0 (redis:, rediss:, postgres:, postgresql:)`,
      `  LOG_LEVEL="loud": not accepted; set it to trace, debug, info, warn, error, fatal, silent`,
      `  BATCH_SIZE="500": not accepted; set it to a whole number from 1 to 200`,
      `  CATCH_UP_DAYS="-1": not accepted; set it to a whole number from 0 to 366`,
    ]);
    expect(fault).toMatchObject({
      code: "config_invalid",
      details: { variables: "DATABASE_URL,QUEUE_URL,LOG_LEVEL,BATCH_SIZE,CATCH_UP_DAYS" },
    });
  });

  it("says once that DATABASE_URL is not set, though QUEUE_URL falls back on it", () => {
    expect(faultOf({}).message).toBe(
      "configuration: 1 setting is wrong\n  DATABASE_URL: not set; set it to a URL like postgres://user:password@host:5432/database (postgres:, postgresql:)",
    );
  });

  it.each([
    "mysql://night:secret@db/night",
    "mysql://night@db/night?password=secret",
    "night:secret@db",
    "secret",
    "://night:secret@",
  ])("never shows the password in %s", (DATABASE_URL) => {
    expect(faultOf({ DATABASE_URL }).message).not.toContain("secret");
  });

  it.each(["1e2", "0x10", " 5", "5.5", "five", "-5", "9".repeat(40)])("takes %s for no whole number", (BATCH_SIZE) => {
    expect(faultOf({ DATABASE_URL: url, BATCH_SIZE }).details).toMatchObject({ variables: "BATCH_SIZE" });
  });

  it("refuses a client timeout that would end before the server's", () => {
    const fault = faultOf({ DATABASE_URL: url, STATEMENT_TIMEOUT_MS: "10000", QUERY_TIMEOUT_MS: "10000" });
    expect(fault.message).toContain(
      "QUERY_TIMEOUT_MS=10000: the process would give up before the server does; set it above STATEMENT_TIMEOUT_MS",
    );
  });

  it("keeps leases in the queue's Redis, and in DATABASE_URL when the queue is in Postgres", () => {
    expect(loadConfig({ DATABASE_URL: url, QUEUE_URL: "redis://cache" }).leaseUrl).toBe("redis://cache");
    expect(loadConfig({ DATABASE_URL: url, QUEUE_URL: "postgres://db/queue" }).leaseUrl).toBe(url);
  });

  it.each(["none", "redis+sentinel://:pw@a:26379,b:26379/primary", "etcd://a:2379,b:2379"])(
    "accepts leases at %s",
    (LEASE_URL) => {
      expect(loadConfig({ DATABASE_URL: url, LEASE_URL }).leaseUrl).toBe(LEASE_URL);
    },
  );

  it("refuses leases at a store that it does not know, without showing the password", () => {
    const { message } = faultOf({ DATABASE_URL: url, LEASE_URL: "consul://night:secret@host" });
    expect(message).toContain(`LEASE_URL="consul://night:***@host": not accepted; set it to none, or a URL like`);
  });

  it("refuses a margin that leaves no time to renew", () => {
    const { message } = faultOf({ DATABASE_URL: url, LEASE_MS: "3000", LEASE_MARGIN_MS: "1000" });
    expect(message).toContain("LEASE_MARGIN_MS=1000: a lease could end before it is renewed; set it below a third");
  });

  it.each(["redis://cache:6379/1", "rediss://u:p@cache", "postgresql://db/queue"])(
    "accepts a queue at %s",
    (QUEUE_URL) => {
      expect(loadConfig({ DATABASE_URL: url, QUEUE_URL }).queueUrl).toBe(QUEUE_URL);
    },
  );
});

describe("listSettings", () => {
  it("holds a default for every setting but the ones that it calls required", () => {
    expect(
      listSettings()
        .filter((each) => each.default === "required")
        .map((each) => each.variable),
    ).toEqual(["DATABASE_URL"]);
  });

  it("is the table in the project's README", async () => {
    const readme = await readFile(new URL("../../../README.md", import.meta.url), "utf8");
    const rows = readme.split("\n").filter((line) => /^\| `[A-Z_]+`/.test(line));
    const cells = rows.map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    expect(cells).toEqual(listSettings().map((each) => [`\`${each.variable}\``, each.default, each.description]));
  });
});
