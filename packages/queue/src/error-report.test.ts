import { type Logger, silentLogger } from "@nightwriter/core";
import { describe, expect, it } from "vitest";
import { errorReport } from "./error-report.ts";

function reporter(): { report: (message: string) => void; said: object[]; wait: (ms: number) => void } {
  const said: object[] = [];
  let nowMs = 0;
  const logger: Logger = { ...silentLogger, warn: (fields) => void said.push(fields) };
  const report = errorReport(logger, { now: () => Temporal.Now.instant(), monotonicMs: () => nowMs });
  return { report: (message) => report(new Error(message)), said, wait: (ms) => void (nowMs += ms) };
}

describe("errorReport", () => {
  it("says a message once, and how often it came with the first line after ten seconds", () => {
    const { report, said, wait } = reporter();
    for (let times = 0; times < 5; times += 1) report("ECONNREFUSED");
    expect(said).toEqual([{ err: new Error("ECONNREFUSED") }]);
    wait(10_000);
    report("ECONNREFUSED");
    expect(said[1]).toEqual({ err: new Error("ECONNREFUSED"), swallowed: 4 });
  });

  it("says different messages at once, ten of them at most", () => {
    const { report, said } = reporter();
    for (let each = 0; each < 300; each += 1) report(`could not renew lock for job ${each}`);
    expect(said).toHaveLength(10);
  });
});
