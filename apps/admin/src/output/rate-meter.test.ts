import { describe, expect, it } from "vitest";
import { rateMeter } from "./rate-meter.ts";

describe("rateMeter", () => {
  it("knows no rate before two samples apart", () => {
    const meter = rateMeter();
    meter.add(0, 1_000);
    meter.add(5, 1_000);
    expect(meter.perSecond()).toBeUndefined();
  });

  it("forgets a pause once ten seconds have passed since it ended", () => {
    const meter = rateMeter();
    meter.add(0, 0);
    meter.add(0, 60_000);
    for (let second = 1; second <= 12; second++) meter.add(second * 100, 60_000 + second * 1_000);
    expect(meter.perSecond()).toBeCloseTo(100);
  });

  it("starts anew with what starts anew", () => {
    const meter = rateMeter();
    meter.add(0, 0);
    meter.add(900, 1_000);
    meter.add(10, 2_000);
    expect(meter.perSecond()).toBeUndefined();
    meter.add(210, 4_000);
    expect(meter.perSecond()).toBeCloseTo(100);
  });

  it("keeps one sample of before the window when samples are rare", () => {
    const meter = rateMeter();
    meter.add(0, 0);
    meter.add(600, 60_000);
    expect(meter.perSecond()).toBeCloseTo(10);
  });
});
