/**
 * An app as a child process of demo and dev.
 *
 * It leads a process group of its own, so that Ctrl-C reaches only us and we end things in order. And it cannot outlive us:
 * a watchdog in front of it reads from a pipe whose other end only we have. A line means that the app is gone: the
 * watchdog leaves. End of file means that we are gone, however we went: it ends the app.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { extendEnvironment } from "@nightwriter/config";
import { invariant } from "@nightwriter/core";
import type { ProcessName } from "../commands/process-command.ts";
import { entryOf } from "../verbs/become-process.ts";

/** `$$` is the shell's own process id, which the app takes over with exec. */
const GUARDED_EXEC = '(read -r _ <&3 || kill -TERM $$) & exec "$@" 3<&-';
const TAIL_LINES = 20;

export interface AppOptions {
  /** Which app. */
  readonly app: ProcessName;
  /** What it is called here: `worker-1`. */
  readonly name: string;
  /** On top of this process's own. */
  readonly environment: Readonly<Record<string, string>>;
  /** Gets every line that it prints. */
  readonly log?: (line: string) => void;
}

export interface AppEnd {
  /** `exit code 1`, `SIGKILL` */
  readonly how: string;
  /** Whether `kill` or `stop` had been called before. */
  readonly wanted: boolean;
}

export interface AppProcess extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  /** Settles when the process has ended, for whatever reason; never rejects. */
  readonly ended: Promise<AppEnd>;
  /** The last lines that it printed. */
  readonly tail: readonly string[];
  /** Ends it at once, without a chance to finish anything, and waits for that. */
  kill(): Promise<void>;
  /** Ends it in order (SIGTERM), and after a while without asking. Nothing happens if it has ended. */
  stop(): Promise<void>;
}

/** Starts an app. Returns as soon as there is a process; what it says shows when it is ready. */
export async function startApp({ app, name, environment, log }: AppOptions): Promise<AppProcess> {
  const child = spawn("/bin/sh", ["-c", GUARDED_EXEC, "sh", process.execPath, entryOf(app)], {
    env: extendEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    detached: true,
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<AppEnd>();
  let running = true;
  let wanted = false;
  child.once("exit", (code, signal) => {
    running = false;
    end({ how: signal ?? `exit code ${code}`, wanted });
  });
  await once(child, "spawn");
  const { pid } = child;
  invariant(pid !== undefined, "a spawned process has a pid");
  const lifeline = lifelineOf(child);
  child.once("exit", () => lifeline.end("gone\n"));
  const tail = collectLines(child, log);

  const endWith = async (signals: readonly NodeJS.Signals[], patienceMs: number): Promise<void> => {
    wanted = true;
    for (const signal of signals) {
      if (!running) return;
      child.kill(signal);
      const gaveUp = new AbortController();
      const patience = setTimeout(patienceMs, undefined, { signal: gaveUp.signal }).catch(() => undefined);
      await Promise.race([ended, patience]);
      gaveUp.abort();
    }
    await ended;
  };
  const stop = async (): Promise<void> => endWith(["SIGTERM", "SIGKILL"], 30_000);
  return { name, pid, ended, tail, stop, kill: () => endWith(["SIGKILL"], 5_000), [Symbol.asyncDispose]: stop };
}

function lifelineOf(child: ChildProcess): Writable {
  const stream = child.stdio[3];
  invariant(stream !== null && stream !== undefined && "write" in stream, "descriptor 3 is a pipe to write to");
  // Its other end may be gone before it, which is no error of ours.
  stream.on("error", () => undefined);
  return stream;
}

function collectLines({ stdout, stderr }: ChildProcess, log: ((line: string) => void) | undefined): string[] {
  const tail: string[] = [];
  for (const input of [stdout, stderr]) {
    invariant(input !== null, "the app's output is piped");
    createInterface({ input }).on("line", (line) => {
      if (tail.push(line) > TAIL_LINES) tail.shift();
      log?.(line);
    });
  }
  return tail;
}
