/** Everything that the demo plays on: servers, an installation in them, a folder for files, workers and a scheduler. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Installation, openInstallation } from "../installation.ts";
import { type AppGroup, appGroup } from "../stack/app-group.ts";
import type { AppProcess } from "../stack/app-process.ts";
import { startServers } from "../stack/servers.ts";
import type { Terminal } from "../terminal.ts";

export interface StageOptions {
  readonly restaurants: number;
  readonly workers: number;
  readonly redis: boolean;
}

export interface Stage extends AsyncDisposable {
  readonly installation: Installation;
  /** For files; gone with the stage. */
  readonly folder: string;
  readonly workers: readonly AppProcess[];
  /** Resolves when all workers consume: from then on all of them will have work. */
  readonly workersReady: Promise<unknown>;
  /** Aborted when a process ends that should not. */
  readonly signal: AbortSignal;
}

/** Sets the stage. Whatever has been started is ended again when this throws. */
export async function setStage(terminal: Terminal, options: StageOptions): Promise<Stage> {
  await using built = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "nightwriter-demo-"));
  built.defer(() => rm(folder, { recursive: true, force: true }));
  const { environment, config } = built.use(await startServers(terminal, { redis: options.redis }));
  const installation = built.use(
    await openInstallation(terminal, {
      verb: "demo",
      jobName: "restaurant-totals",
      purpose: "plan",
      // When everything is ended at once, connections complain; nobody needs to hear it.
      config: { ...config, logLevel: "error" },
      patient: true,
    }),
  );
  const apps = built.use(appGroup());
  await apps.start({ app: "scheduler", name: "scheduler", environment: { ...environment, ...schedulerSettings } });
  const workers = await startWorkers(apps, { ...options, environment });
  const running = built.move();
  return {
    installation,
    folder,
    workers: workers.map(({ worker }) => worker),
    workersReady: Promise.all(workers.map(({ ready }) => ready)),
    signal: apps.signal,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The night of yesterday and no other, and no waiting for what the killed worker had. */
const schedulerSettings = { CATCH_UP_DAYS: "1", CATCH_UP_INTERVAL_MS: "1000", RECONCILE_INTERVAL_MS: "1000" };

type Workers = StageOptions & { readonly environment: Readonly<Record<string, string>> };

type StartedWorker = { readonly worker: AppProcess; readonly ready: Promise<void> };

async function startWorkers(apps: AppGroup, { workers, restaurants, environment }: Workers): Promise<StartedWorker[]> {
  const names = Array.from({ length: workers }, (_, index) => `worker-${index + 1}`);
  const settings = { ...environment, ...slowDown(restaurants), LOG_LEVEL: "info", LOG_FORMAT: "json" };
  return Promise.all(
    names.map(async (name) => {
      const { promise: ready, resolve } = Promise.withResolvers<void>();
      const log = (line: string): void => {
        // It calls itself ready before it holds anything: who comes second waits for the first to hand over.
        if (line.includes('"msg":"partition consumed"')) resolve();
      };
      return {
        worker: await apps.start({ app: "worker", name, environment: { ...settings, WORKER_NAME: name }, log }),
        ready,
      };
    }),
  );
}

/**
 * With full batches a thousand restaurants are done before anybody can look, let alone kill a worker half-way. So batches and
 * what is in flight are as small as makes a night of some seconds; many restaurants get the full ones.
 */
function slowDown(restaurants: number): Record<string, string> {
  const batch = Math.min(200, Math.max(1, Math.round(restaurants / 500)));
  return { BATCH_SIZE: String(batch), WORKER_CONCURRENCY: String(batch), DATABASE_POOL_SIZE: "2" };
}
