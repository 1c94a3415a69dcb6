import { fileURLToPath } from "node:url";
import { toJson } from "@nightwriter/core";
import { ensureServer, type SystemServer } from "@nightwriter/services";
import { execa } from "execa";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** Clocks can be moved on Linux only. */
const ALWAYS_NEEDED: readonly SystemServer[] = [
  "redis",
  "postgres-15",
  ...(process.platform === "linux" ? (["faketime"] as const) : []),
];
/** By slow tests alone. */
const ELSE_NEEDED: readonly SystemServer[] = ["etcd", "zookeeper"];
const CLOSING_LINE = /(\d+) passed, (\d+) failed, (\d+) skipped$/;

/** Which tests: `quick` does without the slow ones and the servers that only those need; `soak` is the long ones alone, which no other has. */
type TestScale = "quick" | "whole" | "soak";

export type TestOptions = {
  scale: TestScale;
  json: boolean;
};

const PROJECTS: Readonly<Record<TestScale, readonly string[]>> = {
  quick: ["--project=!slow", "--project=!alone", "--project=!soak"],
  whole: ["--project=!soak"],
  soak: ["--project=soak"],
};

/**
 * Runs everything that tests this project: the steps of `pnpm check`, one test each, and all tests. The last line of
 * stdout is `N passed, N failed, N skipped`; with `json` it is the only document there and the report goes to stderr.
 *
 * Returns the exit code: 0, or 1 if anything failed, was skipped, or kept the tests from running at all. Throws a
 * ServicesFault where a server that the tests need is not on the machine and cannot be installed: Redis, PostgreSQL 15,
 * and for the whole of it etcd and ZooKeeper.
 */
export async function runTests({ scale, json }: TestOptions): Promise<number> {
  for (const server of [...ALWAYS_NEEDED, ...(scale === "whole" ? ELSE_NEEDED : [])]) await ensureServer(server);

  const { exitCode, stdout } = await execa("vitest", ["run", ...PROJECTS[scale]], {
    cwd: ROOT,
    localDir: ROOT,
    preferLocal: true,
    stdin: "ignore",
    stdout: [json ? 2 : "inherit", "pipe"],
    stderr: "inherit",
    env: process.stdout.isTTY && !json ? { FORCE_COLOR: "1" } : {},
    reject: false,
  });

  const closingLine = CLOSING_LINE.exec(stdout.trimEnd());
  const [, passed = 0, failed = 1, skipped = 0] = closingLine?.map(Number) ?? [];
  if (json) console.log(toJson({ passed, failed, skipped }));
  else if (closingLine === null) console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return exitCode === 0 ? 0 : 1;
}
