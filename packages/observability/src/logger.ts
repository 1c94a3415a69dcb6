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
    serializers: { err: (error: Error) => exactIntegers(toldOf(stdSerializers.errWithCause(error))) },
    formatters: {
      level: (label) => ({ level: label }),
      log: ({ err, ...fields }) => ({ ...exactIntegers(fields), ...(err !== undefined && { err }) }),
    },
    hooks: { streamWrite: scrub },
  };
}

/** What of an error is told. Drivers hang on whatever they have in hand: a client with its cancel key, a command with its password. */
const told: ReadonlySet<string> = new Set(
  (
    "type message stack name code details retryable " +
    "sqlstate severity detail hint where schema table column constraint dataType routine " +
    "errno syscall address port hostname signal exitCode"
  ).split(" "),
);

/** Errors within an error, which are told as it is. */
const within: ReadonlySet<string> = new Set(["cause", "aggregateErrors", "lastNodeError", "suppressed", "error"]);

/** An error's own text and codes, and those of the errors within; of a command that failed, its name. Whatever else hangs on it is left out. */
function toldOf(error: object): Record<string, unknown> {
  const entries = Object.entries(error).flatMap(([key, value]): [string, unknown][] => {
    if (within.has(key)) return [[key, withinOf(value)]];
    if (key === "command") return [[key, nameOf(value)]];
    return told.has(key) ? [[key, key === "details" ? plainOf(value) : valueOf(value)]] : [];
  });
  return Object.fromEntries(entries);
}

function withinOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withinOf);
  return typeof value === "object" && value !== null ? toldOf(value) : valueOf(value);
}

function nameOf(command: unknown): unknown {
  return typeof command === "object" && command !== null && "name" in command ? command.name : undefined;
}

function plainOf(details: unknown): unknown {
  if (typeof details !== "object" || details === null) return valueOf(details);
  return Object.fromEntries(Object.entries(details).map(([key, value]) => [key, valueOf(value)]));
}

/** Objects are not told: nobody has looked at what is in them. */
function valueOf(value: unknown): unknown {
  return typeof value === "object" && value !== null ? undefined : value;
}

/** pino writes a bigint as a JSON number, which loses digits in whatever reads it. Looks two levels deep: as far as a fault's `details`. */
function exactIntegers(fields: object, depth = 2): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, exact(value, depth - 1)]));
}

function exact(value: unknown, depth: number): unknown {
  if (typeof value === "bigint") return value.toString();
  // Under whatever name: pino's serializer sees `err` alone.
  if (value instanceof Error) return toldOf(stdSerializers.errWithCause(value));
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
