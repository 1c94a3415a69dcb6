/** That the benchmark runs, every row of it, and what it prints. Its figures at this scale say nothing, and are not looked at. */
import { resolve } from "node:path";
import { olderBuild } from "@nightwriter/testkit";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { comparedFigures } from "./against/sides.ts";

const root = resolve(import.meta.dirname, "../..");
const figures = ["night", "memory", "lease", "write", "planning", "growth", "verify"];

async function bench(...args: string[]): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, ["test/bench/main.ts", ...args], {
    cwd: root,
    reject: false,
  });
  return { exitCode, stdout, stderr };
}

async function compared(revision: string): Promise<unknown> {
  const args = ["--against", revision, "--scale", "small", "--pairs", "1", "--json"];
  const { stdout, stderr, exitCode } = await bench(...args);
  if (exitCode !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as { figures: unknown }).figures;
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

  test("measures this build in turns with an earlier one, at a small scale", { timeout: 280_000 }, async () => {
    const build = await olderBuild("c241fd6", "that two builds can be measured against each other");
    const wanted = build === undefined ? [] : comparedFigures;
    const measured = build === undefined ? [] : await compared(build.commit);
    // One pair says nothing, and the report says that.
    const pair = { ours: expect.any(Number), theirs: expect.any(Number), value: expect.any(Number) };
    expect(measured).toMatchObject(wanted.map((name) => ({ name, verdict: "inconclusive", pairs: [pair] })));
  });

  test.each([
    { args: ["--against", "0000000"], says: "--against 0000000: no such commit in this copy's history" },
    { args: ["--against", "HEAD", "--only", "growth"], says: "--only growth: no such row" },
    { args: ["--only", "nothing"], says: "--only nothing: no such row" },
    { args: ["--pairs", "0"], says: "--pairs 0: not a number from 1 to 25" },
    { args: ["--scale", "huge"], says: "--scale huge: neither full nor small" },
    { args: ["--fast"], says: "Unknown option '--fast'" },
  ])("refuses $args, and says how it is used", async ({ args, says }) => {
    const { stderr, exitCode } = await bench(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(says);
    expect(stderr).toContain("usage: pnpm bench");
  });
});
