/** The storm with a write that does not compare versions, so often that what happens once in a hundred times is seen. */

import { describe, expect, test } from "vitest";
import { violatedWithoutVersion } from "./wrong-storms.ts";

const runCount = 450;

describe("a storm over a night with a write that does not compare versions", () => {
  test.each(Array.from({ length: runCount }, (_, index) => index + 1))(
    `is found out in the same way each time: %i of ${runCount}`,
    async () => {
      expect([...(await violatedWithoutVersion())].toSorted()).toEqual(["delta-from-snapshot", "snapshot-order"]);
    },
    300_000,
  );
});
