import { spawnApp } from "@nightwriter/testkit";
import { expect, test } from "vitest";

test("leaves an app running", async () => {
  const app = await spawnApp("test/testkit/programs/app.ts", {});
  expect(app.pid).toBeGreaterThan(0);
});
