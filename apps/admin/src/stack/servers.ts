/** The servers under demo and dev, and the settings with which every process finds them. */
import { join } from "node:path";
import { type Config, extendEnvironment, loadConfig } from "@nightwriter/config";
import { type MigrateResult, migrateToLatest } from "@nightwriter/database";
import { schemaLists } from "@nightwriter/restaurant-totals";
import { startPostgres, startRedis } from "@nightwriter/services";
import { connectDatabase } from "../connect-database.ts";
import { openLogger } from "../open-logger.ts";
import type { Terminal } from "../terminal.ts";

export interface ServersOptions {
  /** The folder whose data stay. Absent: temporary ones, removed with the servers. */
  readonly data?: string;
  /** Whether the queue is kept in a Redis of its own. */
  readonly redis: boolean;
}

export interface Servers extends AsyncDisposable {
  /** For every process that works on them. */
  readonly environment: { readonly DATABASE_URL: string; readonly QUEUE_URL: string };
  /** The same with all other settings, for this process. */
  readonly config: Config;
  readonly migrated: MigrateResult;
}

/** Starts Postgres, and Redis if wanted, and brings the schema up to date. Leaves nothing running when it throws. */
export async function startServers(terminal: Terminal, { data, redis }: ServersOptions): Promise<Servers> {
  await using started = new AsyncDisposableStack();
  const postgres = started.use(await startPostgres(data === undefined ? {} : { dataDir: join(data, "postgres") }));
  const queue = redis
    ? started.use(await startRedis(data === undefined ? {} : { dir: join(data, "redis") }))
    : postgres;
  const environment = { DATABASE_URL: postgres.url, QUEUE_URL: queue.url };
  const config = loadConfig(extendEnvironment(environment));
  const migrated = await migrate(terminal, config);
  const running = started.move();
  return { environment, config, migrated, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function migrate(terminal: Terminal, config: Config): Promise<MigrateResult> {
  const logger = openLogger(terminal, config);
  await using database = await connectDatabase({ config, verb: "migrate", logger, patient: true });
  return await migrateToLatest(database, { lists: schemaLists });
}
