/**
 * Every environment variable that Nightwriter reads, in the order in which people look for them. The README's table,
 * `--help` and the checks at start all come from this list; a variable that is not in it is not read.
 */
import { z } from "zod";
import { integer, milliseconds, oneOf, type Setting, text, url } from "./setting.ts";

/** The configuration of a process, checked. Milliseconds and sizes are within the ranges that the settings name. */
export interface Config {
  readonly databaseUrl: string;
  readonly queueUrl: string;
  readonly queuePrefix: string;
  /** A URL, or "none". */
  readonly leaseUrl: string;
  readonly leaseMs: number;
  readonly leaseMarginMs: number;
  readonly logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  readonly logFormat: "json" | "pretty";
  readonly workerName: string;
  readonly workerConcurrency: number;
  readonly batchSize: number;
  readonly databasePoolSize: number;
  readonly queuePoolSize: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly queryTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
  readonly reconcileIntervalMs: number;
  readonly catchUpIntervalMs: number;
  readonly catchUpDays: number;
  readonly dashboardHost: string;
  readonly dashboardPort: number;
}

/** What can keep leases. A Redis by its sentinels, a cluster, a majority of several: each a scheme of its own. */
const leaseSchemes = [
  "redis:",
  "rediss:",
  "redis+sentinel:",
  "redis+cluster:",
  "redis+redlock:",
  "postgres:",
  "postgresql:",
  "etcd:",
  "zookeeper:",
];

/** One setting per field of {@link Config}. */
export const settings: { readonly [Field in keyof Config]: Setting<Config[Field]> } = {
  databaseUrl: url(["postgres:", "postgresql:"], {
    variable: "DATABASE_URL",
    description: "The Postgres that keeps sales, runs, totals and the ledger.",
    example: "postgres://user:password@host:5432/database",
  }),
  queueUrl: url(["redis:", "rediss:", "postgres:", "postgresql:"], {
    variable: "QUEUE_URL",
    description: "Where the queue lives. The scheme chooses BullMQ's Redis or PostgreSQL backend.",
    example: "redis://host:6379/0",
    defaultNote: "`DATABASE_URL`",
  }),
  queuePrefix: text(/^[a-z][a-z0-9_]{0,39}$/, {
    variable: "QUEUE_PREFIX",
    description:
      "Keeps installations apart in one queue store: key prefix in Redis, part of the schema's name in Postgres.",
    accepts: "1 to 40 of a-z, 0-9 and _, beginning with a letter",
    defaultText: "nightwriter",
  }),
  leaseUrl: {
    variable: "LEASE_URL",
    description:
      "Where leases live; several hosts are separated by commas. `none`: every worker consumes every partition; totals are right all the same.",
    accepts: `none, or a URL like redis://host:6379 (${leaseSchemes.join(", ")})`,
    schema: z
      .string()
      .refine((text) => text === "none" || leaseSchemes.some((scheme) => text.startsWith(`${scheme}//`))),
    secret: true,
    defaultNote: "`QUEUE_URL` if that is Redis, else `DATABASE_URL`",
  },
  leaseMs: milliseconds({
    variable: "LEASE_MS",
    description:
      "The length of a lease. After a crash, work waits so long; a worker's statements must end sooner, so its timeouts are cut to fit.",
    min: 1_000,
    max: 600_000,
    defaultText: "10000",
  }),
  leaseMarginMs: milliseconds({
    variable: "LEASE_MARGIN_MS",
    description: "How long before its end a holder stops to trust its lease. Below a third of `LEASE_MS`.",
    max: 200_000,
    defaultNote: "a tenth of `LEASE_MS`",
  }),
  logLevel: oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
    variable: "LOG_LEVEL",
    description: "The lowest level that is logged. Logs go to stderr.",
    defaultText: "info",
  }),
  logFormat: oneOf(["json", "pretty"], {
    variable: "LOG_FORMAT",
    description: "One JSON object per line, or readable lines.",
    defaultNote: "`pretty` on a terminal, else `json`",
  }),
  workerName: text(/^[\w.-]{1,100}$/, {
    variable: "WORKER_NAME",
    description: "Names this process in ledger entries, logs, pg_stat_activity and the dashboard. Unique per process.",
    accepts: "1 to 100 letters, digits, _ . and -",
    defaultNote: "host name and process id",
  }),
  workerConcurrency: integer({
    variable: "WORKER_CONCURRENCY",
    description:
      "Queue jobs in flight per partition and worker. Below `BATCH_SIZE`, batches cannot fill. A PostgreSQL queue: 16 at most.",
    min: 1,
    max: 2_000,
    defaultText: "200",
  }),
  batchSize: integer({
    variable: "BATCH_SIZE",
    description: "Run items per guarded statement, at most.",
    min: 1,
    max: 200,
    defaultText: "200",
  }),
  databasePoolSize: integer({
    variable: "DATABASE_POOL_SIZE",
    description: "Connections to `DATABASE_URL` per process, at most.",
    min: 1,
    max: 100,
    defaultText: "4",
  }),
  queuePoolSize: integer({
    variable: "QUEUE_POOL_SIZE",
    description: "With a PostgreSQL queue: its connections per process, at most, besides one that listens.",
    min: 1,
    max: 100,
    defaultText: "4",
  }),
  statementTimeoutMs: milliseconds({
    variable: "STATEMENT_TIMEOUT_MS",
    description: "How long the server may work at one statement.",
    defaultText: "30000",
  }),
  lockTimeoutMs: milliseconds({
    variable: "LOCK_TIMEOUT_MS",
    description: "How long the server may wait for a lock.",
    defaultText: "5000",
  }),
  queryTimeoutMs: milliseconds({
    variable: "QUERY_TIMEOUT_MS",
    description:
      "How long a process waits for any answer of the server. Above `STATEMENT_TIMEOUT_MS`, so that the server speaks first.",
    defaultText: "35000",
  }),
  shutdownTimeoutMs: milliseconds({
    variable: "SHUTDOWN_TIMEOUT_MS",
    description: "How long a process may finish what is in flight after SIGTERM. Below the platform's grace period.",
    defaultText: "25000",
  }),
  reconcileIntervalMs: milliseconds({
    variable: "RECONCILE_INTERVAL_MS",
    description: "How often the scheduler compares what is due with what the queue has.",
    min: 100,
    defaultText: "30000",
  }),
  catchUpIntervalMs: milliseconds({
    variable: "CATCH_UP_INTERVAL_MS",
    description: "How often the scheduler looks for nights that should have been planned and were not.",
    min: 100,
    defaultText: "60000",
  }),
  catchUpDays: integer({
    variable: "CATCH_UP_DAYS",
    description: "How many past business dates the catch-up looks at.",
    min: 0,
    max: 366,
    defaultText: "7",
  }),
  dashboardHost: text(/^[\w.:-]+$/, {
    variable: "DASHBOARD_HOST",
    description: "Where the dashboard listens: a loopback address, since it asks nobody who they are.",
    accepts: "a host name or an IP address",
    defaultText: "127.0.0.1",
  }),
  dashboardPort: integer({
    variable: "DASHBOARD_PORT",
    description: "The dashboard's port; 0 takes a free one.",
    min: 0,
    max: 65_535,
    defaultText: "3000",
  }),
};
