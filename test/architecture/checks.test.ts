import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { ROOT } from "./slice.ts";

const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

describe("pnpm check", () => {
  const checks = Object.keys(scripts).filter((name) => name.startsWith("check:"));

  it.for(checks)("%s passes", async (check) => {
    const { exitCode, all } = await execa("pnpm", ["run", check], { cwd: ROOT, all: true, reject: false });
    expect(exitCode, all).toBe(0);
  });
});
