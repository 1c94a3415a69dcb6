import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findPackaged, findPostgres } from "./postgres-binaries.ts";
import { serverUser } from "./server-user.ts";

/** A package like those on npm, its server a script, in a folder that is closed to everybody but us. */
async function closedPackage(version: string): Promise<AsyncDisposable & { readonly native: string }> {
  const closed = await mkdtemp(join(tmpdir(), "nightwriter-closed-"));
  const native = join(closed, "native");
  await mkdir(join(native, "bin"), { recursive: true });
  await writeFile(join(closed, "package.json"), JSON.stringify({ version }));
  await writeFile(join(native, "bin/postgres"), "#!/bin/sh\necho 'postgres (PostgreSQL) 18.4'\n", { mode: 0o700 });
  return { native, [Symbol.asyncDispose]: () => rm(closed, { recursive: true }) };
}

describe("findPackaged", () => {
  test("copies a package that the server's user cannot reach to where it can", async () => {
    const version = `test-${process.pid}`;
    await using closed = await closedPackage(version);
    const user = await serverUser();
    // At once, as servers that one process starts side by side do.
    const finds = Array.from({ length: 16 }, () => findPackaged(closed.native, user));
    const [first, ...others] = await Promise.all(finds);
    const binDir = first?.binDir ?? "";
    try {
      expect(first?.major).toBe(18);
      expect(others).toEqual(others.map(() => first));
      // Only root's servers run as somebody else; anybody else's package is used where it lies.
      expect(binDir.startsWith(closed.native)).toBe(user === undefined);
      expect(await readFile(join(binDir, "postgres"), "utf8")).toContain("PostgreSQL");
      // Nothing of a copy that was made beside it got into it.
      expect(await readdir(join(binDir, ".."))).toEqual(["bin"]);
    } finally {
      if (user !== undefined) await rm(join(binDir, ".."), { recursive: true });
    }
  });
});

describe("findPostgres", () => {
  test("says which program is missing", async () => {
    await expect(findPostgres("/nowhere/bin", undefined)).rejects.toMatchObject({
      code: "binaries-missing",
      message: expect.stringContaining("program /nowhere/bin/postgres: cannot be run"),
    });
  });

  test("refuses a program that is no PostgreSQL server", async () => {
    await using folder = await closedPackage("0");
    await cp("/bin/true", join(folder.native, "bin/postgres"));
    await expect(findPostgres(join(folder.native, "bin"), undefined)).rejects.toMatchObject({
      code: "binaries-missing",
    });
  });
});
