import { keyHistory } from "@nightwriter/ledger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Original, openOriginal } from "./history.ts";

let original: Original;
beforeAll(async () => {
  original = await openOriginal();
});
afterAll(async () => original[Symbol.asyncDispose]());

describe("keyHistory", () => {
  test("tells the total of a key and how it came about, in order of version", async () => {
    await using history = await original.copy();
    const found = await keyHistory(history.database, history.job, "r0001");
    expect(found).toMatchObject({ key: "r0001", totalMinor: 313n, version: 4n, fencingToken: 1n, pausedAt: undefined });
    expect(
      found?.entries.map((each) => [each.version, each.businessDate.toString(), each.deltaMinor, each.totalAfter]),
    ).toEqual([
      [1n, "2026-03-01", 101n, 101n],
      [2n, "2026-03-02", 102n, 203n],
      [3n, "2026-03-01", 7n, 210n],
      [4n, "2026-03-03", 103n, 313n],
    ]);
    expect(found?.entries[2]).toMatchObject({ sourceCount: 2n, worker: "test", fencingToken: 1n });
  });

  test("is undefined for a key that the job has never planned", async () => {
    await using history = await original.copy();
    expect(await keyHistory(history.database, history.job, "r0004")).toBeUndefined();
  });
});
