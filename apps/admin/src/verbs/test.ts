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

export type TestOptions = {
  /** Leaves out the slow tests, and does without the servers that only those tests need. */
  quick: boolean;
  json: boolean;
};

/**
 * Runs everything that tests this project: the steps of `pnpm check`, one test each, and all tests. The last line of
 * stdout is `N passed, N failed, N skipped`; with `json` it is the only document there and the report goes to stderr.
 *
 * Returns the exit code: 0, or 1 if anything failed, was skipped, or kept the tests from running at all. Throws a
 * ServicesFault where a server that the tests need is not on the machine and cannot be installed: Redis, PostgreSQL 15,
 * and without `quick` etcd and ZooKeeper.
 */
export async function runTests({ quick, json }: TestOptions): Promise<number> {
  for (const server of [...ALWAYS_NEEDED, ...(quick ? [] : ELSE_NEEDED)]) await ensureServer(server);

  const projects = quick ? ["--project=!slow", "--project=!alone"] : [];
  const { exitCode, stdout } = await execa("vitest", ["run", ...projects], {
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
