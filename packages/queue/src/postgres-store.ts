/**
 * The queue in PostgreSQL: a schema of BullMQ's own beside Nightwriter's, made and migrated here.
 *
 * Connections of a process: at most `poolSize`, and one that listens when it consumes, however many partitions.
 */
import { invariant } from "@nightwriter/core";
import {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  type PgPool,
  runMigrations,
  SchemaMigrationRequiredError,
} from "bullmq";
import { SharedPostgresBackend, SharedPostgresConnection } from "./postgres-backend.ts";
import { checkPostgres, type PostgresVersion } from "./postgres-check.ts";
import { postgresClaim } from "./postgres-claim.ts";
import type { QueueConnection } from "./queue-connection.ts";
import { queueFault } from "./queue-fault.ts";
import type { ItemQueue, PresentState, QueueStore } from "./queue-store.ts";

/**
 * Every job in flight ends as a statement that waits its turn at the pool, and BullMQ renews a job's lock no longer once it
 * does. 16 partitions × 16 are served well within the lock, even at 50 jobs/s; 16 × 300 were not: most jobs lost their lock
 * while they waited, and were done again.
 */
const inFlightAtMost = 16;
const idsPerLook = 5_000;
const lockTimeoutMs = 10_000;

/** The schema in PostgreSQL of the installation's queue. */
export function queueSchema(prefix: string): string {
  return `${prefix}_queue`;
}

/** Connects, checks the server, brings the queue's schema up to date and returns the store. Throws QueueFault and leaves no connection behind. */
export async function openPostgresStore(connection: QueueConnection): Promise<QueueStore> {
  const { url, prefix, applicationName, report, watchLocks } = connection;
  invariant(
    /^[a-z_][a-z0-9_]{0,56}$/.test(prefix),
    `queue prefix ${JSON.stringify(prefix)}: no beginning of a schema's name`,
  );
  const { host, pathname } = new URL(url);
  const name = `postgres at ${host}${pathname}`;
  const schema = queueSchema(prefix);
  const lockWatch = watchLocks?.({ url, applicationName: `${applicationName} queue`, lockTimeoutMs });
  const shared = new SharedPostgresConnection(poolConfig(connection, schema), lockWatch, report);
  try {
    await check(shared.pool, name);
    await migrate(shared.pool, schema);
    await shared.waitUntilReady();
  } catch (error) {
    await shared.close();
    throw queueFault(error, name);
  }
  return {
    kind: "postgres",
    name,
    prefix,
    report,
    backend: (queue, options) => new SharedPostgresBackend(shared, queue, { ...options, connection: shared.pool }),
    concurrencyAtMost: inFlightAtMost,
    // Not by count: the backend looks at every kept job to find those above it, at every completion.
    keepCompleted: { age: 24 * 3_600 },
    states: (queue, ids) => states(shared.pool, queue, ids),
    counts: (queue) => counts(shared.pool, queue),
    ping: async () =>
      void (await shared.pool.query("select 1").catch((error: unknown) => Promise.reject(queueFault(error, name)))),
    claimSlot: postgresClaim(shared.pool, name),
    close: () => shared.close(),
  };
}

function poolConfig(
  { url, applicationName, poolSize }: QueueConnection,
  schema: string,
): Record<string, unknown> & { schema: string } {
  return {
    connectionString: url,
    schema,
    application_name: `${applicationName} queue`,
    max: poolSize,
    // Counts waiting for a free connection too: thousands of jobs in flight wait their turn at a few connections.
    connectionTimeoutMillis: 15_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: 30_000,
    lock_timeout: lockTimeoutMs,
    query_timeout: 35_000,
    idle_in_transaction_session_timeout: 60_000,
  };
}

async function check(pool: PgPool, store: string): Promise<void> {
  const { rows } = await pool.query<PostgresVersion>(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int as number",
  );
  checkPostgres(rows[0] ?? { version: "unknown", number: 0 }, store);
}

/** Reads first and migrates only what is behind, so that a role without CREATE can run on a schema that is there. */
async function migrate(pool: PgPool, schema: string): Promise<void> {
  const client = await pool.connect();
  try {
    const version = await assertSchemaCompatibility(client, schema).catch((error: unknown) => {
      if (error instanceof SchemaMigrationRequiredError) return 0;
      throw error;
    });
    if (version < LATEST_SCHEMA_VERSION) await runMigrations(client, schema);
  } finally {
    client.release();
  }
}

/** One statement per 5,000 ids, each with one snapshot of its own. */
async function states(
  pool: PgPool,
  queue: ItemQueue,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PresentState>> {
  const found = new Map<string, PresentState>();
  for (let start = 0; start < ids.length; start += idsPerLook) {
    const { rows } = await pool.query<{ id: string; state: string }>(
      "select id, state::text as state from job where queue = $1 and id = any($2::text[])",
      [queue.name, ids.slice(start, start + idsPerLook)],
    );
    for (const { id, state } of rows) found.set(id, stateOf(state));
  }
  return found;
}

async function counts(pool: PgPool, queue: ItemQueue): Promise<ReadonlyMap<PresentState, number>> {
  const { rows } = await pool.query<{ state: string; count: number }>(
    "select state::text as state, count(*)::int as count from job where queue = $1 group by 1",
    [queue.name],
  );
  const counted = new Map<PresentState, number>();
  for (const { state, count } of rows) counted.set(stateOf(state), (counted.get(stateOf(state)) ?? 0) + count);
  return counted;
}

function stateOf(state: string): PresentState {
  return state === "active" || state === "completed" || state === "failed" || state === "delayed" ? state : "waiting";
}
