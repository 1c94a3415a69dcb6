import { spawnApp } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { ENTRY, installation } from "./fixture.ts";

describe.each([
  ["worker", {}],
  ["scheduler", {}],
  ["dashboard", { DASHBOARD_PORT: "0" }],
])("nightwriter %s", { timeout: 120_000 }, (name, settings) => {
  it("becomes that process: same id, JSON logs with --json, and SIGTERM ends it in order", async () => {
    await using made = await installation();
    const app = await spawnApp(ENTRY, { ...made.settings, ...settings }, { args: [name, "--json"] });
    const ready = await app.waitForLog(({ msg }) => msg === `${name} ready`, 60_000);
    expect(ready["pid"]).toBe(app.pid);
    app.signal("SIGTERM");
    expect(await app.exited).toEqual({ code: 0, signal: null });
  });
});

describe("nightwriter worker", { timeout: 60_000 }, () => {
  it("ends with 1 and says what is wrong when its settings are", async () => {
    const app = await spawnApp(ENTRY, { DATABASE_URL: "nowhere" }, { args: ["worker"] });
    await app.waitForLog((line) => JSON.stringify(line).includes("DATABASE_URL"), 50_000);
    expect(await app.exited).toEqual({ code: 1, signal: null });
  });
});
