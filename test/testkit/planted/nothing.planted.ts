import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";

test("leaves nothing", async () => {
  setInterval(() => undefined, 1_000).unref();
  expect(await setTimeout(1, "done")).toBe("done");
});
