/** The whole stack on one machine, for as long as somebody works at it. */
import { rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import { toJson } from "@nightwriter/core";
import type { Answer } from "../answer.ts";
import type { ProcessName } from "../commands/process-command.ts";
import { exitCode } from "../exit-code.ts";
import { untilAborted, watchInterrupt } from "../interrupt.ts";
import { appGroup } from "../stack/app-group.ts";
import type { AppProcess } from "../stack/app-process.ts";
import { dashboardAddress } from "../stack/dashboard-address.ts";
import { type Servers, startServers } from "../stack/servers.ts";
import type { Terminal } from "../terminal.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

export interface DevOptions {
  readonly data?: string | undefined;
  readonly workers: number;
  readonly redis: boolean;
}

type Named = { readonly app: ProcessName; readonly name: string };

/**
 * Runs until SIGINT, SIGTERM or SIGHUP, then ends everything in order; or until one of the processes ends by itself, which
 * is a fault. With `--json` stdout gets the URLs and process ids as soon as everything was started.
 */
export async function runDev(terminal: Terminal, options: DevOptions): Promise<Answer> {
  using interrupt = watchInterrupt();
  const data = options.data === undefined ? join(ROOT, ".nightwriter", "dev") : resolve(options.data);
  terminal.note(`starting the servers on ${data}`);
  await using servers = await startServers(terminal, { data, redis: options.redis });
  await using environmentFile = await writeEnvironment(join(data, "env"), servers);
  const { dashboardHost, dashboardPort } = servers.config;
  const dashboard = await dashboardAddress(dashboardHost, dashboardPort);
  const started: AppProcess[] = [];
  await using apps = appGroup();
  for (const named of namesOf(options.workers)) {
    if (interrupt.signal.aborted) break;
    const settings = { ...servers.environment, DASHBOARD_PORT: String(dashboard.port), ...logSettings(terminal) };
    const environment = { ...settings, WORKER_NAME: named.name };
    const log = terminal.json ? terminal.note : prefixed(terminal, named.name);
    started.push(await apps.start({ ...named, environment, log }));
  }
  announce(terminal, { dashboard: dashboard.url, environmentFile: environmentFile.path, started, servers });
  await untilAborted(AbortSignal.any([interrupt.signal, apps.signal]));
  apps.signal.throwIfAborted();
  terminal.note("stopping: what is in flight is finished first");
  return { exitCode: exitCode.inOrder, text: "" };
}

function namesOf(workers: number): Named[] {
  const numbers = Array.from({ length: workers }, (_, index) => index + 1);
  const those = numbers.map((number): Named => ({ app: "worker", name: `worker-${number}` }));
  return [{ app: "scheduler", name: "scheduler" }, ...those, { app: "dashboard", name: "dashboard" }];
}

function logSettings({ json, verbose }: Terminal): Record<string, string> {
  return { LOG_FORMAT: json ? "json" : "pretty", ...(verbose && { LOG_LEVEL: "debug" }) };
}

function prefixed(terminal: Terminal, name: string): (line: string) => void {
  const prefix = styleText("cyan", name.padEnd("scheduler".length), { stream: terminal.stderr });
  return (line) => terminal.note(`${prefix} ${line}`);
}

/** The settings as a file that a shell can source; it holds passwords, so only its owner reads it. Gone when the stack is. */
async function writeEnvironment(path: string, { environment }: Servers): Promise<AsyncDisposable & { path: string }> {
  const lines = Object.entries(environment).map(
    ([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`,
  );
  await rm(path, { force: true });
  await writeFile(path, lines.join(""), { mode: 0o600 });
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

interface Announcement {
  readonly dashboard: string;
  readonly environmentFile: string;
  readonly started: readonly AppProcess[];
  readonly servers: Servers;
}

function announce(terminal: Terminal, { dashboard, environmentFile, started, servers }: Announcement): void {
  if (terminal.json) {
    const processes = started.map(({ name, pid }) => ({ name, pid }));
    terminal.stdout.write(`${toJson({ dashboard, environmentFile, environment: servers.environment, processes })}\n`);
    return;
  }
  const lines = [
    "",
    `dashboard        ${dashboard}`,
    `other verbs      . ${environmentFile}   # then, in the same shell:`,
    "                 ./nightwriter status",
    "stop             Ctrl-C",
    "",
  ];
  for (const line of lines) terminal.note(line);
}
