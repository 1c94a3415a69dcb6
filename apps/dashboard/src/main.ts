/** The process: configuration, logger, signals, exit code. */
import { type Config, loadConfig } from "@nightwriter/config";
import type { Logger } from "@nightwriter/core";
import { createLogger, onShutdown } from "@nightwriter/observability";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { startDashboard } from "./dashboard.ts";

function leave(logger: Logger, error: unknown): never {
  logger.fatal({ err: error }, "cannot serve: leaving");
  process.exit(1);
}

function readConfig(): Config {
  try {
    return loadConfig();
  } catch (error) {
    return leave(createLogger({ name: "dashboard" }), error);
  }
}

const config = readConfig();
const logger = createLogger({ name: "dashboard", level: config.logLevel, pretty: config.logFormat === "pretty" });
const crash = (fault: unknown): never => leave(logger, fault);
const starting = startDashboard({ config, definitions: [restaurantTotals], logger, crash });
onShutdown({ logger, deadlineMs: config.shutdownTimeoutMs, stop: async () => (await starting).stop() });
await starting.catch(crash);
