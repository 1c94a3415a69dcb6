/**
 * A child process that cannot outlive its parent.
 *
 * A shell starts a watchdog, then becomes the program (`exec`), so that the pid we hold is the program's own and there is
 * no moment at which it runs unwatched. The watchdog reads from a pipe of which only this process has the other end. A
 * line means that the program is gone: it leaves. End of file means that this process is gone, however it went (exit,
 * signal, SIGKILL): it ends the program, and removes its folder if that was temporary. Nothing here depends on exit
 * handlers, which SIGKILL skips and which get in the way of an app's own shutdown.
 *
 * The watchdog is started by a subshell that ends at once, so that it is nobody's child: PostgreSQL would take the death
 * of a child that it does not know for a crash. The program leads a session of its own: Ctrl-C in a terminal reaches our
 * process only, which then ends what it started in the right order, workers before their database.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { invariant } from "@nightwriter/core";

const GUARDED_EXEC = `
signal=$1 temporary=$2 program=$$
shift 2
( (
  if read -r gone <&3; then exit 0; fi
  kill -s "$signal" "$program"
  kill -s CONT "$program"
  if [ -z "$temporary" ]; then exit 0; fi
  tries=100
  while [ "$tries" -gt 0 ] && kill -s 0 "$program"; do sleep 0.1; tries=$((tries - 1)); done
  rm -rf -- "$temporary"
) </dev/null >/dev/null 2>&1 & )
exec "$@" 3<&-
`;

const TAIL_LINES = 40;

/** What is started, and what becomes of it if we die first. */
export interface GuardedCommand {
  readonly file: string;
  readonly args?: readonly string[];
  /** The working directory. Absent: ours. */
  readonly folder?: string;
  /** Whether to remove `folder` if this process dies before the program. Default: false. */
  readonly temporary?: boolean;
  /** Added to our environment, or all of it with `onlyEnvironment`. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly onlyEnvironment?: boolean;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** What the program gets if this process dies before it. Default: `KILL`, which it cannot put off. */
  readonly orphanSignal?: "KILL" | "QUIT" | "TERM";
  /** Written to the program's standard input, which is then closed. */
  readonly input?: string;
  /** Keeps its standard input open, for `write`. Default: false. */
  readonly keepInput?: boolean;
  /** Gets each line that the program prints. */
  readonly log?: ((line: string, from: "stderr" | "stdout") => void) | undefined;
}

/** How a process ended: one of the two is null. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child process that ends when we do. Disposal ends it. */
export interface GuardedProcess extends AsyncDisposable {
  readonly pid: number;
  /** Settles when the process has ended, for whatever reason; never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Settles when it has ended and all that it printed was read; never rejects. */
  readonly closed: Promise<void>;
  /** How it ended; undefined while it runs. */
  readonly exit: () => ProcessExit | undefined;
  /** The last lines that it printed. */
  readonly tail: () => readonly string[];
  /** Writes to its standard input, which must have been kept open; nothing happens if the process has ended. */
  readonly write: (text: string) => void;
  /** Sends a signal; nothing happens if the process has ended. */
  readonly signal: (signal: NodeJS.Signals) => void;
  /**
   * Sends the first signal, and each next one if the process is still there after `patienceMs` (15 s); waits for its end.
   * The last one should be SIGKILL.
   */
  readonly end: (signals: readonly NodeJS.Signals[], patienceMs?: number) => Promise<void>;
}

/**
 * Starts a program that ends when this process does, whatever ends that, SIGKILL included. Ctrl-C in a terminal does not
 * reach it: the caller ends it. Disposal asks it to leave (SIGTERM) and makes it after 15 s.
 *
 * Rejects with the system's error where no process can be made; a program that is missing exits with 127.
 *
 * @example
 * await using worker = await startGuarded({ file: process.execPath, args: ["apps/worker/src/main.ts"], environment });
 */
export async function startGuarded(command: GuardedCommand): Promise<GuardedProcess> {
  const { folder, temporary = false, orphanSignal = "KILL", keepInput = false } = command;
  invariant(!temporary || folder !== undefined, "a temporary folder has a path");
  const watch = [orphanSignal, temporary ? (folder ?? "") : ""];
  const child = spawn("/bin/sh", ["-c", GUARDED_EXEC, "sh", ...watch, command.file, ...(command.args ?? [])], {
    ...(folder !== undefined && { cwd: folder }),
    env: environmentOf(command),
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true,
    ...command.user,
  });
  const { promise: exited, resolve: settleExited } = Promise.withResolvers<ProcessExit>();
  const { promise: closed, resolve: settleClosed } = Promise.withResolvers<void>();
  let exit: ProcessExit | undefined;
  child.once("exit", (code, signal) => {
    exit = { code, signal };
    settleExited(exit);
  });
  child.once("close", () => settleClosed());
  await once(child, "spawn");
  const { pid } = child;
  invariant(pid !== undefined, "a spawned process has a pid");
  const lifeline = writableEnd(child, 3);
  const input = writableEnd(child, 0);
  input.write(command.input ?? "");
  if (!keepInput) input.end();
  child.once("exit", () => lifeline.end("gone\n"));
  const tail = collectLines(child, command.log);

  const end: GuardedProcess["end"] = async (signals, patienceMs = 15_000) => {
    for (const signal of signals) {
      if (exit !== undefined) return;
      child.kill(signal);
      // A process that was stopped by a signal obeys no other before it goes on.
      child.kill("SIGCONT");
      await settledWithin(exited, patienceMs);
    }
    await exited;
  };
  return {
    pid,
    exited,
    closed,
    exit: () => exit,
    tail: () => tail,
    write: (text) => {
      invariant(keepInput, `process ${pid}: its standard input was closed`);
      input.write(text);
    },
    signal: (signal) => void child.kill(signal),
    end,
    [Symbol.asyncDispose]: async () => end(["SIGTERM", "SIGKILL"]),
  };
}

function environmentOf({ environment, onlyEnvironment = false }: GuardedCommand): NodeJS.ProcessEnv {
  // oxlint-disable-next-line no-restricted-properties -- passed on as it is, not read
  return onlyEnvironment ? { ...environment } : { ...process.env, ...environment };
}

/** Our end of one of the child's pipes. The other end may be gone before it, which is no error of ours. */
function writableEnd(child: ChildProcess, fd: 0 | 3): Writable {
  const stream = child.stdio[fd];
  invariant(stream !== null && stream !== undefined && "write" in stream, `descriptor ${fd} is a pipe to write to`);
  stream.on("error", () => undefined);
  return stream;
}

function collectLines(child: ChildProcess, log: GuardedCommand["log"]): readonly string[] {
  const tail: string[] = [];
  for (const from of ["stdout", "stderr"] as const) {
    const input = child[from];
    invariant(input !== null, `${from} is a pipe`);
    createInterface({ input }).on("line", (line) => {
      if (tail.push(line) > TAIL_LINES) tail.shift();
      log?.(line, from);
    });
  }
  return tail;
}

/** Returns when the promise has settled or the time is over, whichever is first. */
async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  const settled = new AbortController();
  const late = setTimeout(ms, undefined, { signal: settled.signal }).catch(() => undefined);
  await Promise.race([promise, late]);
  settled.abort();
}
