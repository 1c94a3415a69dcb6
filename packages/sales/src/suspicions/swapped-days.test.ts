import { describe, expect, it } from "vitest";
import { swappedFormat } from "./swapped-days.ts";

describe("swappedFormat", () => {
  it.each([
    ["dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm"],
    ["M/d/yy h:mm a", "d/M/yy h:mm a"],
    ["EEE d.M.yy", "EEE M.d.yy"],
    ["'Md' dd-MM-yyyy", "'Md' MM-dd-yyyy"],
  ])("exchanges day and month of %s", (format, other) => expect(swappedFormat(format)).toBe(other));

  it.each(["yyyy-MM-dd", "yyyyMMdd HH:mm", "dd MMM yyyy", "T"])("says nothing of %s", (format) =>
    expect(swappedFormat(format)).toBeUndefined(),
  );
});
