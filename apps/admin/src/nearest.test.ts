import { describe, expect, it } from "vitest";
import { didYouMean } from "./nearest.ts";

describe("didYouMean", () => {
  const restaurants = ["Kensington", "Soho", "Camden"];

  it("names the nearest candidate, whatever the case", () => {
    expect(didYouMean("kensingtn", restaurants)).toBe(" (did you mean Kensington?)");
    expect(didYouMean("SOHO", restaurants)).toBe(" (did you mean Soho?)");
  });

  it("says nothing when none is near", () => {
    expect(didYouMean("Brixton", restaurants)).toBe("");
    expect(didYouMean("Soho", [])).toBe("");
  });
});
