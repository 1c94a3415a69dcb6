/** A process of the product, started for real, its log read as it is written. */

import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type GuardedProcess, type ProcessExit, startGuarded } from "@nightwriter/services";
import type { OlderBuild } from "./older-build.ts";
import { registerResource } from "./resources.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

/** A line of the log: pino's fields, or only `msg` where the line was not JSON. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string };

/** A running process of the product. Disposal asks it to end (SIGTERM), and after 15 s makes it. */
export interface App extends AsyncDisposable {
  readonly pid: number;
  /** All that it has logged so far. */
  readonly log: readonly LogLine[];
  /** Settles with code and signal when it has ended and all that it logged was read. */
  readonly exited: Promise<ProcessExit>;
  /** The first line, logged already or to come, that fits. Rejects after `timeoutMs` (20 s), or if the app ends before. */
  readonly waitForLog: (fits: (line: LogLine) => boolean, timeoutMs?: number) => Promise<LogLine>;
  readonly signal: (signal: NodeJS.Signals) => void;
}

export interface SpawnAppOptions {
  /** What the command line has after the entry file. */
  readonly args?: readonly string[];
  /** Whose entry it is. Default: the checkout's. */
  readonly build?: OlderBuild | undefined;
}

/**
 * Starts `node ENTRY` from the root of the checkout or of an older build, such as `apps/worker/src/main.ts`, with these variables added to the
 * environment. It cannot outlive the test's process; one that runs on at the end of its test file fails that.
 */
export async function spawnApp(
  entry: string,
  environment: Readonly<Record<string, string>>,
  { args = [], build }: SpawnAppOptions = {},
): Promise<App> {
  const log: LogLine[] = [];
  const waiting = new Set<() => void>();
  const process_: GuardedProcess = await startGuarded({
    file: process.execPath,
    args: [entry, ...args],
    folder: build?.root ?? ROOT,
    environment: { NODE_ENV: "production", ...environment },
    log: (line) => {
      log.push(parseLine(line));
      for (const look of waiting) look();
    },
  });
  const waitForLog: App["waitForLog"] = async (fits, timeoutMs = 20_000) => {
    const { promise, resolve: found } = Promise.withResolvers<LogLine>();
    const look = (): void => {
      const line = log.find(fits);
      if (line !== undefined) found(line);
    };
    const over = new AbortController();
    const late = setTimeout(timeoutMs, undefined, { signal: over.signal }).catch(() => undefined);
    waiting.add(look);
    look();
    try {
      const line = await Promise.race([promise, process_.closed, late]);
      if (line !== undefined) return line;
      const why = process_.exit() === undefined ? `in ${timeoutMs} ms` : "before it ended";
      throw new Error(`${entry}: did not log what was waited for ${why}; it logged\n${process_.tail().join("\n")}`);
    } finally {
      over.abort();
      waiting.delete(look);
    }
  };
  const dispose = registerResource(`process ${entry}`, async () => process_[Symbol.asyncDispose]());
  void process_.exited.then(dispose);
  return {
    pid: process_.pid,
    log,
    exited: process_.closed.then(() => process_.exited),
    waitForLog,
    signal: process_.signal,
    [Symbol.asyncDispose]: dispose,
  };
}

function parseLine(line: string): LogLine {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === "object" && parsed !== null) return parsed as LogLine;
  } catch {
    // Not JSON: what a crash prints, for one.
  }
  return { msg: line };
}
