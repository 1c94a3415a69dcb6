/** What domain code needs of a logger; pino's loggers are ones. Fields come first, the message last. */
export interface Logger {
  trace(fields: object, message?: string): void;
  debug(fields: object, message?: string): void;
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
  fatal(fields: object, message?: string): void;
  child(fields: Record<string, unknown>): Logger;
}

const nothing = (): void => {};

/** A logger that says nothing. */
export const silentLogger: Logger = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
  child: () => silentLogger,
};
