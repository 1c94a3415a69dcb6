import { existsSync } from "node:fs";
import { type App, spawnApp } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";

interface Started {
  readonly pids: readonly number[];
  readonly folders: readonly string[];
}

async function startParent(): Promise<App & Started> {
  const app = await spawnApp("test/services/programs/parent.ts", {});
  const { pids, folders } = (await app.waitForLog(({ msg }) => msg === "started", 60_000)) as Started & object;
  return { ...app, pids, folders };
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/cwd`);

describe("servers whose parent is gone", () => {
  test.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGUSR2"] as const)("are gone too, after %s", async (signal) => {
    await using parent = await startParent();
    expect(parent.pids.filter(isAlive)).toEqual(parent.pids);
    parent.signal(signal);
    const exit = await parent.exited;
    // The parent makes of SIGUSR2 an exit in the middle of things.
    expect(exit).toEqual(signal === "SIGUSR2" ? { code: 0, signal: null } : { code: null, signal });
    await expect.poll(() => parent.pids.filter(isAlive), { timeout: 20_000 }).toEqual([]);
    await expect.poll(() => parent.folders.filter((folder) => existsSync(folder)), { timeout: 20_000 }).toEqual([]);
  });
});
