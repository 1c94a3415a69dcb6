import { describe, expect, it } from "vitest";
import { isOneSlip } from "./one-slip.ts";

describe("isOneSlip", () => {
  it.each([
    ["Soho", "soho"],
    ["New  York", "newyork "],
    ["Soho", "Sohp"],
    ["Soho", "Sohoo"],
    ["Camden", "Camdn"],
    ["Camden", "Camdne"],
    ["A", "a"],
  ])("takes %j and %j for the same", (one, other) => {
    expect([isOneSlip(one, other), isOneSlip(other, one)]).toEqual([true, true]);
  });

  it.each([
    ["Store 1", "Store 2"],
    ["r0009", "r00090"],
    ["Soho", "Camden"],
    ["Soho", "Sooh West"],
    ["abc", "abd"],
    ["Leeds N", "Leeds SE"],
  ])("tells %j and %j apart", (one, other) => {
    expect([isOneSlip(one, other), isOneSlip(other, one)]).toEqual([false, false]);
  });
});
