import { readdir } from "node:fs/promises";
import { spawnApp } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { documentOf, ENTRY, nightwriter } from "./fixture.ts";
import { stackFolder } from "./stack-folder.ts";

describe("nightwriter demo", { timeout: 300_000 }, () => {
  it("kills a worker, is right to the penny all the same, and leaves nothing behind", async () => {
    await using folder = await stackFolder();
    const ran = await nightwriter(["demo", "--json"], { TMPDIR: folder.path });
    expect(ran.code, ran.stderr).toBe(0);
    expect(documentOf(ran)).toMatchObject({
      killed: { worker: "worker-1" },
      lateSales: 25,
      night: { items: { total: 1_000, applied: 1_000 } },
      checks: ["night", "kill", "late sales", "re-run", "verify", "totals"].map((name) => ({ name, passed: true })),
    });
    expect(await folder.leftRunning()).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("leaves nothing behind after Ctrl-C in the middle", async () => {
    await using folder = await stackFolder();
    const demo = await spawnApp(ENTRY, { TMPDIR: folder.path }, { args: ["demo"] });
    await demo.waitForLog(({ msg }) => msg?.includes("recorded") === true, 100_000);
    demo.signal("SIGINT");
    const end = await demo.exited;
    expect(end, demo.log.map(({ msg }) => msg).join("\n")).toEqual({ code: 130, signal: null });
    expect(await folder.leftRunning()).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });
});
