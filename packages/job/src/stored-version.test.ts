import { describe, expect, it } from "vitest";
import { type History, nextQueryVersion, type Standing, type StoredVersion, standingOf } from "./stored-version.ts";

const [a, b, c] = ["a", "b", "c"].map((letter) => letter.repeat(64));

/** `1=1a 2=2b`: stored number, code number and hash; the last one is in force. `?` is a hash that nobody knows. */
function historyOf(text: string): History {
  const versions = text.split(" ").map((each): StoredVersion => {
    const [stored, code = ""] = each.split("=");
    const hash = code.slice(-1);
    const queryHash = hash === "?" ? undefined : hash.repeat(64);
    return { queryVersion: Number(stored), code: { number: Number(code.slice(0, -1)), queryHash } };
  });
  return { queryVersion: versions.at(-1)?.queryVersion ?? 0, versions };
}

describe("standingOf", () => {
  it.for<[string, number, string | undefined, Standing]>([
    ["1=1a", 1, a, "current"],
    ["1=1?", 1, a, "claim"],
    ["1=1a", 1, b, "reused"],
    ["1=1a", 2, b, "new"],
    ["1=1a", 2, a, "new"],
    ["1=1?", 2, b, "new"],
    ["1=1a 2=2b", 1, a, "replaced"],
    ["1=1a 2=2b", 1, c, "reused"],
    ["1=1? 2=2b", 1, a, "replaced"],
    ["1=1a 3=3b", 2, c, "replaced"],
    ["1=1a 2=2b 3=1a", 1, a, "current"],
    ["1=1a 2=2b 3=1a", 2, b, "replaced"],
    ["1=1a 2=2b 3=1a", 2, c, "reused"],
    ["1=1a 2=2b 3=1a", 3, c, "new"],
  ])("in %s, code %i with hash %s is %s", ([history, number, queryHash, standing]) => {
    expect(standingOf({ number, queryHash }, historyOf(history))).toBe(standing);
  });
});

describe("nextQueryVersion", () => {
  it.for([
    { history: "1=1a", number: 2, next: 2 },
    { history: "1=1a", number: 5, next: 5 },
    { history: "1=1a 2=2b", number: 1, next: 3 },
    { history: "1=1a 2=2b 3=1a", number: 3, next: 4 },
  ])("of code $number after $history is $next: above all before, and the code's own where that is free", (each) => {
    expect(nextQueryVersion({ number: each.number, queryHash: c }, historyOf(each.history))).toBe(each.next);
  });
});
