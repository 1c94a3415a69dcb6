import { describe, expect, it } from "vitest";
import { Fault, InvariantError, invariant, toJson } from "./index.ts";

describe("invariant", () => {
  it("throws an InvariantError with the message when the condition is false", () => {
    const [small, large] = [1, 2];
    expect(() => invariant(small > large, "1 is not above 2")).toThrow(new InvariantError("1 is not above 2"));
  });
  it("returns when the condition is true", () => {
    const [small, large] = [1, 2];
    expect(() => invariant(large > small, "never")).not.toThrow();
  });
});

describe("Fault", () => {
  it("carries its code, its details, whether waiting helps, and its cause", () => {
    const cause = new Error("socket closed");
    const fault = new Fault("away", "database x: away; try again", { details: { name: "x" }, retryable: true, cause });
    expect(fault).toMatchObject({ code: "away", details: { name: "x" }, retryable: true, cause });
  });
  it("is not retryable unless it says so", () => {
    expect(new Fault("away", "gone").retryable).toBe(false);
  });
});

describe("toJson", () => {
  it("keeps every digit of an amount above 2^53", () => {
    expect(toJson({ totalMinor: 9007199254740993n }, 0)).toBe('{"totalMinor":"9007199254740993"}');
  });
  it("writes a business date as ISO text", () => {
    expect(toJson([Temporal.PlainDate.from("2026-11-01")], 0)).toBe('["2026-11-01"]');
  });
});
