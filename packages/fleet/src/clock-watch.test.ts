import type { Logger } from "@nightwriter/core";
import { silentLogger } from "@nightwriter/core";
import { describe, expect, it } from "vitest";
import { type ClockWatch, createClockWatch } from "./clock-watch.ts";

interface Watched {
  readonly watch: ClockWatch;
  readonly lines: readonly string[];
  /** One comparison with a database whose clock is right, by a process whose clock is ahead by so much. */
  readonly compare: (aheadMs: number, answerMs?: number) => Promise<void>;
}

function watched(): Watched {
  const lines: string[] = [];
  const say = (_: object, message = ""): void => void lines.push(message);
  const logger: Logger = { ...silentLogger, info: say, warn: say, error: say };
  const right = Temporal.Instant.from("2026-03-14T12:00:00Z");
  let own = right;
  const watch = createClockWatch({ clock: { now: () => own, monotonicMs: () => 0 }, logger });
  return {
    watch,
    lines,
    async compare(aheadMs, answerMs = 0) {
      own = right.add({ milliseconds: aheadMs });
      await watch.compare(async () => {
        own = own.add({ milliseconds: answerMs });
        return right.add({ milliseconds: answerMs / 2 });
      });
    },
  };
}

describe("a clock watch", () => {
  it("tells a difference above 2 s once, and that it is gone once, however often it compares", async () => {
    const { watch, lines, compare } = watched();
    for (const aheadMs of [0, 1_900, 2_100, 5_000, -9_000, 1_500, 100, 0]) await compare(aheadMs);
    expect(lines).toEqual(["clock differs from the database's", "clock agrees with the database's again"]);
    expect(watch.why()).toBeUndefined();
  });

  it.each([40_000, -172_800_000, 259_200_000])(
    "is a reason not to lead at a difference of %i ms, until it is mended",
    async (aheadMs) => {
      const { watch, lines, compare } = watched();
      await compare(aheadMs);
      await compare(aheadMs + 3);
      expect(watch.aheadMs()).toBe(aheadMs + 3);
      expect(watch.why()).toContain(aheadMs > 0 ? "ahead of the database's" : "behind the database's");
      await compare(0);
      expect(watch.why()).toBeUndefined();
      expect(lines).toEqual([
        "clock differs from the database's by more than 30 s: not leading",
        "clock agrees with the database's again",
      ]);
    },
  );

  it("does not change its mind with each comparison at a limit", async () => {
    const { lines, compare } = watched();
    for (const aheadMs of [30_100, 29_900, 30_100, 29_900]) await compare(aheadMs);
    expect(lines).toHaveLength(1);
  });

  it("takes no answer that came late for a difference", async () => {
    const { watch, lines, compare } = watched();
    await compare(0, 50_000);
    expect(watch.aheadMs()).toBe(0);
    expect(lines).toEqual([]);
  });
});
