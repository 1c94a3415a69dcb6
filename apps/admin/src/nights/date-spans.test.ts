import { describe, expect, it } from "vitest";
import { spansOf } from "./date-spans.ts";

describe("spansOf", () => {
  it("joins dates that follow one another, over the ends of months, and no others", () => {
    const dates = ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-03"].map((text) => Temporal.PlainDate.from(text));
    expect(spansOf(dates).map(({ first, last, count }) => `${first.toString()} ${last.toString()} ${count}`)).toEqual([
      "2026-02-27 2026-03-01 3",
      "2026-03-03 2026-03-03 1",
    ]);
  });

  it("are none without dates", () => {
    expect(spansOf([])).toEqual([]);
  });
});
