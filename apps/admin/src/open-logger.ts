import type { Config } from "@nightwriter/config";
import type { Logger } from "@nightwriter/core";
import { createLogger } from "@nightwriter/observability";
import type { Terminal } from "./terminal.ts";

/** A verb's logger: warnings only, since the verb itself says what it does; with `--verbose` or LOG_LEVEL=debug everything. */
export function openLogger(terminal: Terminal, config: Config): Logger {
  const asked = terminal.verbose ? "debug" : config.logLevel;
  return createLogger({
    name: "nightwriter",
    level: asked === "info" ? "warn" : asked,
    pretty: config.logFormat === "pretty",
  });
}
