/**
 * Logs: one JSON object per line for machines, one readable line for a terminal, always on stderr, since stdout carries the
 * documents of `--json`.
 *
 * Lines are written synchronously and in this thread. pino's worker-thread transports are faster, but a process that
 * leaves at once loses what they hold, and the last lines before an exit are the ones that matter. A worker logs a
 * few lines per batch, not per item, so there is nothing to win.
 */
import type { Logger } from "@nightwriter/core";
import {
  type DestinationStream,
  destination,
  type LoggerOptions as PinoOptions,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from "pino";
import { prettyFactory } from "pino-pretty";
import { scrub } from "./secrets.ts";

/** From the most talkative to the least; `silent` writes nothing. */
export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";

/** How a process logs. */
export interface CreateLoggerOptions {
  /** Which process speaks: `worker`, `scheduler`. */
  readonly name: string;
  /** The lowest level that is written. Default: info. */
  readonly level?: LogLevel;
  /** Readable lines instead of JSON. Default: whether stderr is a terminal. */
  readonly pretty?: boolean;
  /** Bound to every line: a worker's name, a partition. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Where the lines go. Default: stderr. */
  readonly output?: { write(line: string): unknown };
}

/**
 * A logger whose lines hold no password of any URL, errors with their code, details and causes, and bigints as
 * decimal strings. Nothing is buffered: after a call returns, its line is out.
 */
export function createLogger(options: CreateLoggerOptions): Logger {
  const pretty = options.pretty ?? process.stderr.isTTY ?? false;
  const output = options.output ?? destination({ dest: 2, sync: true });
  return pino(pinoOptions(options), pretty ? prettyDestination(output, options.output === undefined) : output);
}

function pinoOptions(options: CreateLoggerOptions): PinoOptions {
  return {
    level: options.level ?? "info",
    base: { name: options.name, pid: process.pid, ...options.fields },
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: (error: Error) => exactIntegers(withoutArguments(stdSerializers.errWithCause(error))) },
    formatters: { level: (label) => ({ level: label }), log: (fields) => exactIntegers(fields) },
    hooks: { streamWrite: scrub },
  };
}

/**
 * A client of Redis tells with each error what it had sent, `command: { name, args }`: at a login, the password. The name is
 * left. Looks into causes and other errors within.
 */
function withoutArguments(error: object): object {
  const within = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(within);
    return typeof value === "object" && value !== null && "stack" in value ? withoutArguments(value) : value;
  };
  const nameOnly = (command: unknown): unknown =>
    typeof command === "object" && command !== null && "name" in command ? command.name : undefined;
  return Object.fromEntries(
    Object.entries(error).map(([key, value]) => [key, key === "command" ? nameOnly(value) : within(value)]),
  );
}

/** pino writes a bigint as a JSON number, which loses digits in whatever reads it. Looks two levels deep: as far as a fault's `details`. */
function exactIntegers(fields: object, depth = 2): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, exact(value, depth - 1)]));
}

function exact(value: unknown, depth: number): unknown {
  if (typeof value === "bigint") return value.toString();
  if (depth === 0 || typeof value !== "object" || value === null) return value;
  return Object.getPrototypeOf(value) === Object.prototype ? exactIntegers(value, depth) : value;
}

function prettyDestination(output: { write(line: string): unknown }, colorize: boolean): DestinationStream {
  const prettify = prettyFactory({
    colorize: colorize && process.stderr.isTTY,
    ignore: "pid,name",
    singleLine: true,
    translateTime: "SYS:HH:MM:ss.l",
  });
  return { write: (line) => void output.write(prettify(line)) };
}
