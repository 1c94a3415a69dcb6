import { InvalidArgumentError } from "@commander-js/extra-typings";
import { describe, expect, it } from "vitest";
import { parseScenes, parseSpeed } from "./scenes.ts";

describe("parseScenes", () => {
  it("takes letters in any order, each once, and several times", () => {
    expect(parseScenes("g,a, b,a")).toEqual(["a", "b", "g"]);
    expect(parseScenes("c", ["g", "a"])).toEqual(["a", "c", "g"]);
  });

  it.each(["", "h", "a;b", "a,,b", "A"])("refuses %j", (text) => {
    expect(() => parseScenes(text)).toThrow(InvalidArgumentError);
  });
});

describe("parseSpeed", () => {
  it.each([
    ["1", 1],
    ["60", 60],
    ["2.5", 2.5],
    ["600", 600],
  ])("reads %s", (text, speed) => {
    expect(parseSpeed(text)).toBe(speed);
  });

  it.each(["", "0", "0.5", "601", "-1", "fast", "1e2"])("refuses %j", (text) => {
    expect(() => parseSpeed(text)).toThrow(InvalidArgumentError);
  });
});
