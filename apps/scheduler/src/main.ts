/** The process: configuration, logger, the jobs of this build, signals, exit code. */
import { type Config, loadConfig } from "@nightwriter/config";
import type { Logger } from "@nightwriter/core";
import { createLogger, onShutdown } from "@nightwriter/observability";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { startScheduler } from "./scheduler.ts";

const definitions = [restaurantTotals];

function leave(logger: Logger, error: unknown): never {
  logger.fatal(
    { err: error },
    "cannot go on: leaving; the others, or this one when it is back, do what it left undone",
  );
  process.exit(1);
}

function readConfig(): Config {
  try {
    return loadConfig();
  } catch (error) {
    return leave(createLogger({ name: "scheduler" }), error);
  }
}

const config = readConfig();
const logger = createLogger({ name: "scheduler", level: config.logLevel, pretty: config.logFormat === "pretty" });
const crash = (bug: unknown): never => leave(logger, bug);
const starting = startScheduler({ config, definitions, logger, crash });
onShutdown({ logger, deadlineMs: config.shutdownTimeoutMs, stop: async () => (await starting).stop() });
await starting.catch(crash);
