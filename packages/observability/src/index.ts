export { type CreateLoggerOptions, createLogger, type LogLevel } from "./logger.ts";
export { redactUrl } from "./secrets.ts";
export { exitOnCrash, onShutdown, type ShutdownOptions } from "./shutdown.ts";
