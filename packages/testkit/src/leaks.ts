/**
 * Fails a test file that leaves something behind: a database, queue or process of the testkit that was not disposed of, or
 * a timer, socket, child process or thread that would keep the process alive. A setup file: vitest runs it before each
 * test file, and its `afterAll` after all others.
 */

import { afterAll } from "vitest";
import { watchHandles } from "./handles.ts";
import { releaseForgotten } from "./resources.ts";

const watch = watchHandles();

afterAll(async () => {
  const leaks = [...(await releaseForgotten()), ...(await watch.leaked())];
  watch.end();
  if (leaks.length > 0) throw new Error(`leaked by this test file:\n${leaks.join("\n")}`);
}, 60_000);
