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
/** Longer than a busy machine stands still, during which nothing that was closed can end. */
const GRACE_MS = 10_000;

export interface HandleWatch {
  /** A line for each handle that was made since the watch began and is still there, once 10 s have passed. */
  readonly leaked: () => Promise<readonly string[]>;
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
    leaked: async () => {
      counting = false;
      // What was just closed is gone only after some turns of the event loop.
      const deadline = performance.now() + GRACE_MS;
      while (present().length > 0 && performance.now() < deadline) await setTimeout(POLL_MS);
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
