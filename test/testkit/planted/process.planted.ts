import { spawn } from "node:child_process";
import { expect, test } from "vitest";

test("leaves a process running", () => {
  expect(spawn("sleep", ["30"]).pid).toBeTypeOf("number");
});
