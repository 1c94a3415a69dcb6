import { expect, test } from "vitest";

test("leaves a timer running", () => {
  expect(setInterval(() => undefined, 1_000)).toBeDefined();
});
