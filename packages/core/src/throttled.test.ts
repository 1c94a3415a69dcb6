import { describe, expect, it } from "vitest";
import { systemClock } from "./clock.ts";
import { throttled } from "./throttled.ts";

describe("throttled", () => {
  it("says the first at once, the next not before its time, and then how many were swallowed", () => {
    let nowMs = 5_000;
    const said: object[] = [];
    const say = throttled<{ n: number }>((fields) => void said.push(fields), {
      clock: { ...systemClock, monotonicMs: () => nowMs },
    });
    for (let n = 0; n < 5; n += 1) say({ n });
    nowMs += 999;
    say({ n: 5 });
    expect(said).toEqual([{ n: 0 }]);
    nowMs += 1;
    say({ n: 6 });
    nowMs += 1_000;
    say({ n: 7 });
    expect(said).toEqual([{ n: 0 }, { n: 6, swallowed: 5 }, { n: 7 }]);
  });
});
