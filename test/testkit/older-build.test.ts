import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { olderBuild } from "@nightwriter/testkit";
import { execa } from "execa";
import { describe, expect, test } from "vitest";

describe("olderBuild", () => {
  test("is made once, of the commit's own files, whose rooms import one another and not the checkout's", async () => {
    const [build, same] = await Promise.all([
      olderBuild("c241fd6", "that an older build is made of its own files"),
      olderBuild("c241fd6", "that it is made once"),
    ]);
    expect(same).toEqual(build);
    if (build === undefined) return;
    const { stdout } = await execa(
      process.execPath,
      ["--input-type=module", "--eval", `console.log(import.meta.resolve("@nightwriter/ledger"))`],
      { cwd: join(build.root, "apps/worker") },
    );
    expect(stdout).toBe(`file://${build.root}/packages/ledger/src/index.ts`);
    const migrations = await readFile(join(build.root, "packages/database/schema.sql"), "utf8");
    expect(migrations).not.toContain("audit_log");
  });

  test("is undefined where the history has no such commit", async () => {
    expect(await olderBuild("0123456789abcdef0123456789abcdef01234567", "nothing: this is a test")).toBeUndefined();
  });
});
