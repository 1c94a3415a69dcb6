/** That the benchmark runs, every row of it, and what it prints. Its figures at this scale say nothing, and are not looked at. */
import { resolve } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const figures = ["night", "memory", "lease", "write", "planning", "growth", "verify"];

async function bench(...args: string[]): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, ["test/bench/main.ts", ...args], {
    cwd: root,
    reject: false,
  });
  return { exitCode, stdout, stderr };
}

describe("bench", () => {
  test("measures every row in pairs, at a small scale", { timeout: 280_000 }, async () => {
    const { stdout, stderr, exitCode } = await bench("--scale", "small", "--pairs", "1", "--json");
    expect(exitCode, stderr).toBe(0);
    const report = JSON.parse(stdout) as { figures: { name: string; pairs: { value: number }[] }[] };
    expect(report.figures.map(({ name }) => name)).toEqual(figures);
    for (const { pairs } of report.figures)
      expect(pairs).toEqual([expect.objectContaining({ value: expect.any(Number) })]);
  });

  test.each([
    { args: ["--only", "nothing"], says: "--only nothing: no such row" },
    { args: ["--pairs", "0"], says: "--pairs 0: not a number from 1 to 20" },
    { args: ["--scale", "huge"], says: "--scale huge: neither full nor small" },
    { args: ["--fast"], says: "Unknown option '--fast'" },
  ])("refuses $args, and says how it is used", async ({ args, says }) => {
    const { stderr, exitCode } = await bench(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(says);
    expect(stderr).toContain("usage: pnpm bench");
  });
});
