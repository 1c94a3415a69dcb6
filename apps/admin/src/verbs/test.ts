import { fileURLToPath } from "node:url";
import { toJson } from "@nightwriter/core";
import { ensureServer } from "@nightwriter/services";
import { execa } from "execa";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const CLOSING_LINE = /(\d+) passed, (\d+) failed, (\d+) skipped$/;

export type TestOptions = {
  /** Leaves out `test/slow`. */
  quick: boolean;
  json: boolean;
};

/**
 * Runs everything that tests this project: the steps of `pnpm check`, one test each, and all tests. The last line of
 * stdout is `N passed, N failed, N skipped`; with `json` it is the only document there and the report goes to stderr.
 *
 * Returns the exit code: 0, or 1 if anything failed, was skipped, or kept the tests from running at all. Throws a
 * ServicesFault where Redis or PostgreSQL 15 is not on the machine and cannot be installed.
 */
export async function runTests({ quick, json }: TestOptions): Promise<number> {
  await ensureServer("redis");
  await ensureServer("postgres-15");

  const { exitCode, stdout } = await execa("vitest", ["run", ...(quick ? ["--exclude", "test/slow/**"] : [])], {
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
