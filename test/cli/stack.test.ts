/** demo and dev: whole installations that come and go. */
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnApp } from "@nightwriter/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { documentOf, ENTRY, nightwriter } from "./fixture.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nightwriter-stack-"));
  // Started by root, servers run as nobody, who has to pass through.
  await chmod(folder, 0o755);
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Processes that were started under the folder: each has its name in a setting or an argument. */
async function leftRunning(): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const texts = await Promise.all(
      ["environ", "cmdline"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")),
    );
    if (texts.some((text) => text.includes(folder))) found.push(`${pid}: ${texts[1]?.replaceAll("\0", " ") ?? ""}`);
  }
  return found;
}

describe.runIf(process.platform === "linux")("nightwriter demo", { timeout: 300_000 }, () => {
  it.each([
    ["PostgreSQL", []],
    ["Redis", ["--redis"]],
  ])(
    "kills a worker, is right to the penny all the same, and leaves nothing behind, its queue in %s",
    async (_store, args) => {
      const ran = await nightwriter(["demo", "--json", ...args], { TMPDIR: folder });
      expect(ran.code, ran.stderr).toBe(0);
      expect(documentOf(ran)).toMatchObject({
        killed: { worker: "worker-1" },
        lateSales: 25,
        night: { items: { total: 1_000, applied: 1_000 } },
        checks: ["night", "kill", "late sales", "re-run", "verify", "totals"].map((name) => ({ name, passed: true })),
      });
      expect(await leftRunning()).toEqual([]);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  it.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
    "leaves nothing running after %s in the middle",
    async (signal) => {
      const demo = await spawnApp(ENTRY, { TMPDIR: folder }, { args: ["demo", "--restaurants", "2000"] });
      await demo.waitForLog(({ msg }) => msg?.includes("recorded") === true, 100_000);
      demo.signal(signal);
      const codes = { SIGINT: 130, SIGTERM: 143, SIGKILL: null };
      const said = (): string => demo.log.map(({ msg }) => msg).join("\n");
      expect(await demo.exited, said()).toEqual({ code: codes[signal], signal: signal === "SIGKILL" ? signal : null });
      await expect.poll(leftRunning, { timeout: 60_000, interval: 250 }).toEqual([]);
    },
  );
});

describe.runIf(process.platform === "linux")("nightwriter dev", { timeout: 300_000 }, () => {
  it("keeps its data from one time to the next, and lends its settings to the other verbs", async () => {
    const data = join(folder, "data");
    const start = async () => {
      const dev = await spawnApp(ENTRY, { TMPDIR: folder }, { args: ["dev", "--data", data] });
      await dev.waitForLog(({ msg }) => msg?.includes("other verbs") === true, 100_000);
      return dev;
    };
    const settings = async (): Promise<Record<string, string>> => {
      const text = await readFile(join(data, "env"), "utf8");
      return Object.fromEntries(
        Array.from(text.matchAll(/^export (\w+)='(.*)'$/gm), ([, name = "", value = ""]) => [name, value]),
      );
    };
    const first = await start();
    const ran = await nightwriter(["run", "--date", "2026-03-14", "--wait"], await settings());
    expect(ran.code, ran.stderr).toBe(0);
    first.signal("SIGINT");
    expect(await first.exited).toEqual({ code: 0, signal: null });
    expect(await leftRunning()).toEqual([]);

    const second = await start();
    const status = await nightwriter(["status", "--json"], await settings());
    expect(documentOf(status)).toMatchObject({
      runs: expect.arrayContaining([expect.objectContaining({ date: "2026-03-14" })]),
    });
    second.signal("SIGTERM");
    expect(await second.exited).toEqual({ code: 0, signal: null });
    expect(await leftRunning()).toEqual([]);
  });
});
