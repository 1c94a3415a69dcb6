import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { Clock } from "@nightwriter/core";
import { describe, expect, it } from "vitest";
import { openTerminal, type Terminal } from "../terminal.ts";
import { progressText, startProgress } from "./progress.ts";

type Recorded = Writable & { isTTY?: boolean; columns?: number; text: string };

function recorder(isTTY: boolean): Recorded {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      recorded.text += String(chunk);
      done();
    },
  });
  const recorded: Recorded = Object.assign(stream, { isTTY, columns: 120, text: "" });
  return recorded;
}

function terminalOver(stderr: Recorded): Terminal {
  return openTerminal({ stdout: recorder(false), stderr }, { json: false, verbose: false });
}

function heldClock(): Clock & { ms: number } {
  const clock = { ms: 0, now: () => Temporal.Instant.fromEpochMilliseconds(clock.ms), monotonicMs: () => clock.ms };
  return clock;
}

describe("progressText", () => {
  it("says count, rate and estimate", () => {
    expect(progressText({ label: "items applied", done: 12_500, total: 20_000, perSecond: 4_700 })).toBe(
      "12,500 of 20,000 items applied, 4,700/s, 1.6 s left",
    );
  });

  it("makes no estimate from a rate of nothing", () => {
    expect(progressText({ label: "items", done: 0, total: 20, perSecond: 0 })).toBe("0 of 20 items, 0/s");
  });

  it("makes no estimate when the end is not known or reached", () => {
    expect(progressText({ label: "lines", done: 20, total: undefined, perSecond: 10 })).toBe("20 lines, 10/s");
    expect(progressText({ label: "lines", done: 20, total: 20, perSecond: 10 })).toBe("20 of 20 lines, 10/s");
  });
});

describe("startProgress without a terminal", () => {
  it("prints a plain line every five seconds and the last state at the end", () => {
    const stderr = recorder(false);
    const clock = heldClock();
    const progress = startProgress(terminalOver(stderr), { label: "items", clock });
    for (; clock.ms <= 6_000; clock.ms += 500) progress.update(clock.ms / 500, 100);
    progress.stop();
    expect(stderr.text).toBe("10 of 100 items, 2.0/s, 45 s left\n12 of 100 items, 2.0/s, 44 s left\n");
  });

  it("says a state that it has said no second time", () => {
    const stderr = recorder(false);
    const clock = heldClock();
    const progress = startProgress(terminalOver(stderr), { label: "items", clock });
    clock.ms = 5_000;
    progress.update(7, 7);
    progress.stop();
    expect(stderr.text).toBe("7 of 7 items\n");
  });
});

describe("startProgress of something short without a terminal", () => {
  it("prints nothing", () => {
    const stderr = recorder(false);
    const progress = startProgress(terminalOver(stderr), { label: "items", clock: heldClock() });
    progress.update(3, 7);
    progress.update(7, 7);
    progress.stop();
    expect(stderr.text).toBe("");
  });
});

describe("startProgress on a terminal", () => {
  it("is drawn anew below a note", () => {
    const stderr = recorder(true);
    const terminal = terminalOver(stderr);
    const progress = startProgress(terminal, { label: "items", clock: heldClock() });
    progress.update(1, 4);
    terminal.note("a worker is gone");
    progress.stop();
    terminal.note("after it");
    expect(stripVTControlCharacters(stderr.text)).toMatch(
      /1 of 4 items\na worker is gone\n.*1 of 4 items\nafter it\n$/,
    );
  });

  it("draws a bar, at most ten times a second, and leaves the last one standing", () => {
    const stderr = recorder(true);
    const clock = heldClock();
    const progress = startProgress(terminalOver(stderr), { label: "items", clock });
    for (; clock.ms < 200; clock.ms += 10) progress.update(clock.ms, 400);
    progress.update(400, 400);
    progress.stop();
    expect(stderr.text.match(/ of 400 items/g)).toHaveLength(3);
    expect(stderr.text).toContain(`${"█".repeat(24)} 100 % 400 of 400 items`);
  });
});
