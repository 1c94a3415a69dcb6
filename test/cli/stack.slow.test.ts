/** demo and dev: whole installations that come and go, in the ways that take longer to try. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type App, spawnApp } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { documentOf, ENTRY, nightwriter } from "./fixture.ts";
import { stackFolder } from "./stack-folder.ts";

describe("nightwriter demo --redis", { timeout: 300_000 }, () => {
  it("kills a worker, is right to the penny all the same, and leaves nothing behind", async () => {
    await using folder = await stackFolder();
    const ran = await nightwriter(["demo", "--redis", "--json"], { TMPDIR: folder.path });
    expect(ran.code, ran.stderr).toBe(0);
    expect(documentOf(ran)).toMatchObject({ killed: { worker: "worker-1" }, night: { items: { applied: 1_000 } } });
    expect(await folder.leftRunning()).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe("nightwriter demo", { timeout: 300_000 }, () => {
  it.each(["SIGTERM", "SIGKILL"] as const)("leaves nothing running after %s in the middle", async (signal) => {
    await using folder = await stackFolder();
    const demo = await spawnApp(ENTRY, { TMPDIR: folder.path }, { args: ["demo"] });
    await demo.waitForLog(({ msg }) => msg?.includes("recorded") === true, 100_000);
    demo.signal(signal);
    const expected = signal === "SIGKILL" ? { code: null, signal } : { code: 143, signal: null };
    expect(await demo.exited).toEqual(expected);
    // After SIGKILL the watchdogs do it, in their own time.
    await expect.poll(folder.leftRunning, { timeout: 60_000, interval: 250 }).toEqual([]);
  });
});

describe("nightwriter dev", { timeout: 300_000 }, () => {
  it("keeps its data from one time to the next, and lends its settings to the other verbs", async () => {
    await using folder = await stackFolder();
    const data = join(folder.path, "data");
    const first = await startDev(folder.path, data);
    const ran = await nightwriter(["run", "--date", "2026-03-14", "--wait"], await settingsIn(data));
    expect(ran.code, ran.stderr).toBe(0);
    first.signal("SIGINT");
    expect(await first.exited).toEqual({ code: 0, signal: null });
    expect(await folder.leftRunning()).toEqual([]);

    const second = await startDev(folder.path, data);
    const status = await nightwriter(["status", "--date", "2026-03-14", "--json"], await settingsIn(data));
    expect(documentOf(status)).toMatchObject({ runs: [{ kind: "nightly", date: "2026-03-14" }] });
    second.signal("SIGTERM");
    expect(await second.exited).toEqual({ code: 0, signal: null });
    expect(await folder.leftRunning()).toEqual([]);
  });
});

async function startDev(folder: string, data: string): Promise<App> {
  const dev = await spawnApp(ENTRY, { TMPDIR: folder }, { args: ["dev", "--data", data] });
  await dev.waitForLog(({ msg }) => msg?.includes("other verbs") === true, 100_000);
  return dev;
}

/** What the file to be sourced exports. */
async function settingsIn(data: string): Promise<Record<string, string>> {
  const text = await readFile(join(data, "env"), "utf8");
  return Object.fromEntries(
    Array.from(text.matchAll(/^export (\w+)='(.*)'$/gm), ([, name = "", value = ""]) => [name, value]),
  );
}
