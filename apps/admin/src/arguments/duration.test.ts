import { InvalidArgumentError } from "@commander-js/extra-typings";
import { describe, expect, it } from "vitest";
import { parseRate, parseShare } from "./decimal.ts";
import { parseDuration } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["400ms", 400],
    ["30s", 30_000],
    ["10m", 600_000],
    ["1h", 3_600_000],
    ["24h", 86_400_000],
    ["1.005s", 1_005],
  ])("reads %s as %i ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(["", "30", "s", "-30s", "30 s", "1e3s", "0s", "0.1ms", "25h", "30sec", "٣s"])("refuses %j", (text) => {
    expect(() => parseDuration(text)).toThrow(InvalidArgumentError);
  });
});

describe("parseShare", () => {
  it.each([
    ["1%", 0.01],
    ["0.25%", 0.0025],
    ["0%", 0],
    ["100%", 1],
  ])("reads %s as %f", (text, share) => {
    expect(parseShare(text)).toBe(share);
  });

  it.each(["", "1", "101%", "-1%", "1 %", "1/100"])("refuses %j", (text) => {
    expect(() => parseShare(text)).toThrow(InvalidArgumentError);
  });
});

describe("parseRate", () => {
  it.each([
    ["2", 2],
    ["0.5", 0.5],
    ["0", 0],
  ])("reads %s as %f", (text, rate) => {
    expect(parseRate(text)).toBe(rate);
  });

  it.each(["", "two", "-2", "1e3", "2/s", "2000000"])("refuses %j", (text) => {
    expect(() => parseRate(text)).toThrow(InvalidArgumentError);
  });
});
