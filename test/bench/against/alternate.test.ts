import { seededRandom } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { alternate } from "./alternate.ts";
import { medianInterval, verdictOf } from "./interval.ts";

/** Sides whose rates drift and jitter, as those of a busy machine; ours is `factor` times as fast. */
function sides(factor: number, jitter: number) {
  const random = seededRandom();
  const asked: string[] = [];
  const rate = (name: string, speed: number) => async (): Promise<number> => {
    asked.push(name);
    return speed * (1 + asked.length / 100) * (1 + ((random.below(2_001) - 1_000) / 1_000) * jitter);
  };
  return { asked, ours: rate("ours", 1_000 * factor), theirs: rate("theirs", 1_000) };
}

const often = { pairCount: 25, limitMs: 3_600_000, onPair: () => undefined };

describe("alternate", () => {
  it("takes turns at going first, and throws the first pair away", async () => {
    const { asked, ...both } = sides(1, 0.5);
    const pairs = await alternate({ ...often, ...both, pairCount: 2 });
    expect(asked).toEqual(["theirs", "ours", "ours", "theirs", "theirs", "ours"]);
    expect(pairs).toHaveLength(2);
  });
  it("ends as soon as the interval is narrow, and finds a build of nine tenths the speed slower", async () => {
    const pairs = await alternate({ ...often, ...sides(0.9, 0.005) });
    expect(pairs.length).toBeLessThan(25);
    expect(verdictOf(medianInterval(pairs.map(({ value }) => value)))).toBe("slower");
  });
  it("does not find a build slower than itself", async () => {
    const pairs = await alternate({ ...often, ...sides(1, 0.005) });
    expect(verdictOf(medianInterval(pairs.map(({ value }) => value)))).toBe("no slower");
  });
  it("begins no pair after its time, and none beyond the number", async () => {
    let nowMs = 0;
    const { asked: _, ...both } = sides(1, 0.5);
    const slow = { ...often, ...both, limitMs: 100, onPair: () => void (nowMs += 30), monotonicMs: () => nowMs };
    expect(await alternate(slow)).toHaveLength(3);
    expect(await alternate({ ...often, ...both, pairCount: 5 })).toHaveLength(5);
  });
});
