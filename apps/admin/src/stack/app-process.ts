/** An app as a child process of demo and dev: it ends when we do, and Ctrl-C reaches only us, who end things in order. */
import { startGuarded } from "@nightwriter/services";
import type { ProcessName } from "../commands/process-command.ts";
import { entryOf } from "../verbs/become-process.ts";

/** An app that is asked to leave finishes what is in flight first, for up to SHUTDOWN_TIMEOUT_MS (25 s). */
const LEAVING_MS = 30_000;

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

export interface AppProcess {
  readonly name: string;
  readonly pid: number;
  /** Settles when the process has ended, for whatever reason, and all that it printed was read; never rejects. */
  readonly ended: Promise<AppEnd>;
  /** The last lines that it printed. */
  readonly tail: () => readonly string[];
  /** Ends it at once, without a chance to finish anything, and waits for that. */
  readonly kill: () => Promise<void>;
  /** Ends it in order (SIGTERM), and after a while without asking. Nothing happens if it has ended. */
  readonly stop: () => Promise<void>;
}

/** Starts an app. Returns as soon as there is a process; what it says shows when it is ready. */
export async function startApp({ app, name, environment, log }: AppOptions): Promise<AppProcess> {
  const child = await startGuarded({
    file: process.execPath,
    args: [entryOf(app)],
    environment,
    orphanSignal: "TERM",
    log: (line) => log?.(line),
  });
  let wanted = false;
  const endOf = async (): Promise<AppEnd> => {
    const { code, signal } = await child.exited;
    const asked = wanted;
    await child.closed;
    return { how: signal ?? `exit code ${code}`, wanted: asked };
  };
  const endWith = async (signals: readonly NodeJS.Signals[]): Promise<void> => {
    wanted = true;
    await child.end(signals, LEAVING_MS);
  };
  return {
    name,
    pid: child.pid,
    ended: endOf(),
    tail: child.tail,
    kill: () => endWith(["SIGKILL"]),
    stop: () => endWith(["SIGTERM", "SIGKILL"]),
  };
}
