/** The process: configuration, logger, the jobs of this build, signals, exit code. */
import { setFlagsFromString } from "node:v8";
import { type Config, loadConfig } from "@nightwriter/config";
import type { Logger } from "@nightwriter/core";
import { createLogger, onShutdown } from "@nightwriter/observability";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { startWorker } from "./worker.ts";

const definitions = [restaurantTotals];

// A worker keeps some 50 MB alive, however long the night, and what it drops was in hand long enough to have become old. On a
// machine with much memory V8 lets that pile up to three times as much before it looks. A collection is due when the
// heap has grown by 60 % since the last one: 30 MB less at the peak.
setFlagsFromString("--heap-growing-percent=60");

function leave(logger: Logger, error: unknown): never {
  logger.fatal({ err: error }, "cannot go on: leaving; what was in flight will be delivered again");
  process.exit(1);
}

function readConfig(): Config {
  try {
    return loadConfig();
  } catch (error) {
    return leave(createLogger({ name: "worker" }), error);
  }
}

const config = readConfig();
const logger = createLogger({
  name: "worker",
  level: config.logLevel,
  pretty: config.logFormat === "pretty",
  fields: { worker: config.workerName },
});
const crash = (error: unknown): never => leave(logger, error);
const starting = startWorker({ config, definitions, logger, crash });
onShutdown({ logger, deadlineMs: config.shutdownTimeoutMs, stop: async () => (await starting).stop() });
await starting.catch(crash);
