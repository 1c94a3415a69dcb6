/** Turns this process into one of the apps: same process id, same streams, signals reach it without a middleman. */
import { fileURLToPath } from "node:url";
import { extendEnvironment } from "@nightwriter/config";
import { invariant, toJson } from "@nightwriter/core";
import type { ProcessName } from "../commands/process-command.ts";
import type { Terminal } from "../terminal.ts";

/** Where an app begins. Apps never import each other; they are started. */
export function entryOf(name: ProcessName): string {
  return fileURLToPath(new URL(`../../../${name}/src/main.ts`, import.meta.url));
}

/**
 * Never returns. With `--json` stdout gets `{ "process", "pid" }` first, and the logs on stderr are JSON; `--verbose` logs
 * debug lines too.
 */
export function becomeProcess(terminal: Terminal, name: ProcessName): never {
  invariant(process.execve !== undefined, "Nightwriter runs where processes can become others");
  if (terminal.json) terminal.stdout.write(`${toJson({ process: name, pid: process.pid })}\n`);
  const environment = extendEnvironment({
    ...(terminal.json && { LOG_FORMAT: "json" }),
    ...(terminal.verbose && { LOG_LEVEL: "debug" }),
  });
  process.execve(process.execPath, [process.execPath, entryOf(name)], environment);
  throw new Error("unreachable: execve does not return");
}
