/** The dashboard: connections, the board, a server on loopback, and their end. */
import type { Config } from "@nightwriter/config";
import { Fault, type Logger, systemClock } from "@nightwriter/core";
import {
  assertSchemaCompatible,
  assertServerSupported,
  type Database,
  openDatabase,
  startLockWatch,
  startThroughWeather,
} from "@nightwriter/database";
import { holdClaims } from "@nightwriter/installation";
import type { JobDefinition } from "@nightwriter/job";
import { connectQueues } from "@nightwriter/queue";
import { type Board, createBoard } from "./board.ts";
import { isLoopback } from "./loopback.ts";
import { createServer } from "./server.ts";

export interface Dashboard {
  /** `http://127.0.0.1:3000` */
  readonly url: string;
  stop(): Promise<void>;
}

export interface DashboardOptions {
  readonly config: Config;
  /** The jobs of this build: when their nights are due. */
  readonly definitions: readonly JobDefinition[];
  readonly logger: Logger;
  /** Called with what no waiting mends; must end the process. */
  readonly crash: (fault: unknown) => void;
}

/** How often jobs that were registered meanwhile are looked for. */
const refreshEveryMs = 5_000;

/** Serves from now on. Throws a Fault, and leaves no connection behind when it does. */
export async function startDashboard({ config, definitions, logger, crash }: DashboardOptions): Promise<Dashboard> {
  const { dashboardHost: host, dashboardPort: port } = config;
  if (!isLoopback(host)) {
    throw new Fault(
      "dashboard_host_not_loopback",
      `dashboard at ${host}: asks nobody who they are; set DASHBOARD_HOST to 127.0.0.1, ::1 or localhost`,
      {
        details: { host },
      },
    );
  }
  await using started = new AsyncDisposableStack();
  const database = started.use(openDashboardDatabase(config, logger));
  const check = async (): Promise<void> => {
    await assertServerSupported(database, (text) => logger.warn({}, text));
    await assertSchemaCompatible(database);
  };
  await startThroughWeather(check, { logger });
  const queues = started.use(
    await connectQueues({
      watchLocks: startLockWatch,
      url: config.queueUrl,
      prefix: config.queuePrefix,
      applicationName: `${config.workerName}-dashboard`,
      poolSize: config.queuePoolSize,
      logger,
    }),
  );
  const { queuePrefix: prefix, workerName: by, leaseMs } = config;
  const looking = { database, prefix, slots: [queues.claimSlot], by, clock: systemClock, logger };
  started.use(await holdClaims({ ...looking, leaseMs, onlyLooks: true, crash }));
  const board = createBoard(database, queues);
  await startThroughWeather(async () => board.refresh(), { logger });
  started.defer(keepFresh(board, logger));
  const server = await createServer({ board, database, queues, definitions, logger });
  started.defer(() => server.close());
  const url = await server.listen({ host, port });
  logger.info({ url, queue: queues.kind }, "dashboard ready");

  const running = started.move();
  return { url, stop: () => running.disposeAsync() };
}

function openDashboardDatabase(config: Config, logger: Logger): Database {
  return openDatabase({
    url: config.databaseUrl,
    applicationName: `${config.workerName}-dashboard`,
    max: 2,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    queryTimeoutMs: config.queryTimeoutMs,
    logger,
  });
}

/** Returns what ends it. A database that is away for a while costs nothing but new jobs' queues. */
function keepFresh(board: Board, logger: Logger): () => Promise<void> {
  let refreshing: Promise<void> | undefined;
  const timer = setInterval(() => {
    refreshing ??= board
      .refresh()
      .catch((error: unknown) => logger.warn({ err: error }, "cannot look for new jobs"))
      .finally(() => (refreshing = undefined));
  }, refreshEveryMs);
  return async () => {
    clearInterval(timer);
    await refreshing;
  };
}
