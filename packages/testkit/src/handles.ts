/**
 * What keeps a process alive: timers, sockets, servers, child processes, threads; with the line that made each.
 *
 * Node's async hooks tell of every one as it is made and as it ends. Handles that were told not to keep the process alive
 * (`unref`) are nobody's leak, and neither are the test runner's own.
 */

import { createHook } from "node:async_hooks";
import { setTimeout } from "node:timers/promises";

const WATCHED = new Set(["PROCESSWRAP", "TCPSERVERWRAP", "TCPWRAP", "Timeout", "WORKER"]);
const RUNNER = /\/node_modules\/(?:@vitest|vitest|vite)\//;
const OURSELVES = /\/testkit\/src\/handles\.ts/;
const POLL_MS = 20;

export interface HandleWatch {
  /** A line for each handle that was made since the watch began and is still there, once `graceMs` (2 s) have passed. */
  readonly leaked: (graceMs?: number) => Promise<readonly string[]>;
  readonly end: () => void;
}

interface Handle {
  readonly type: string;
  readonly resource: object;
  readonly stack: readonly string[];
}

export function watchHandles(): HandleWatch {
  const handles = new Map<number, Handle>();
  let counting = true;
  const hook = createHook({
    trackPromises: false,
    // oxlint-disable-next-line max-params -- Node's signature
    init: (id, type, _trigger, resource: object) => {
      if (counting && WATCHED.has(type)) handles.set(id, { type, resource, stack: makers() });
    },
    destroy: (id) => handles.delete(id),
  }).enable();
  const present = (): readonly string[] => [...handles.values()].filter(isLeak).map(describeHandle);
  return {
    leaked: async (graceMs = 2_000) => {
      counting = false;
      // What was just closed is gone only after some turns of the event loop.
      // A machine that stood still for as long has not had these turns: so many looks at least, however late it is.
      const deadline = performance.now() + graceMs;
      let looks = graceMs / POLL_MS / 2;
      while (present().length > 0 && (performance.now() < deadline || looks > 0)) {
        await setTimeout(POLL_MS);
        looks -= 1;
      }
      return present();
    },
    end: () => hook.disable(),
  };
}

function makers(): readonly string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 40;
  const lines = new Error("made here").stack?.split("\n").slice(1) ?? [];
  Error.stackTraceLimit = limit;
  return lines.map((line) => line.trim()).filter((line) => !line.includes("node:") && !OURSELVES.test(line));
}

function isLeak({ resource, stack }: Handle): boolean {
  const maker = stack[0];
  if (maker === undefined || RUNNER.test(maker)) return false;
  return !("hasRef" in resource) || typeof resource.hasRef !== "function" || resource.hasRef() === true;
}

function describeHandle({ type, stack }: Handle): string {
  const ours = stack.find((line) => !line.includes("/node_modules/"));
  return `${type} made ${ours ?? stack[0] ?? "somewhere"}`;
}
