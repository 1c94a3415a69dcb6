import { describe, expect, it } from "vitest";
import { isoDateOf } from "../read/business-date.ts";
import { type Clocks, dayBy } from "./clock.ts";

const hour = 3_600_000;
const dayOf = (date: string) => Date.parse(`${date}T00:00Z`) / (24 * hour);
const at = (local: string) => Date.parse(`${local}Z`);

const first = { fromDay: Number.NEGATIVE_INFINITY, zone: "Europe/London", cutoffMs: 0 };
const dateBy = (clocks: Clocks, ms: number, isInstant = false) => isoDateOf(dayBy(clocks, ms, isInstant));

describe("dayBy", () => {
  it("asks the one clock there is", () => {
    expect(dateBy([first], at("2024-03-05T00:00"))).toBe("2024-03-05");
    expect(dateBy([{ ...first, cutoffMs: 4 * hour }], at("2024-03-05T03:59"))).toBe("2024-03-04");
  });

  it.each([
    ["2024-03-05T23:59", "2024-03-05"],
    // The 6th begins at 04:00 by the later clock: until then it is still the 5th.
    ["2024-03-06T00:00", "2024-03-05"],
    ["2024-03-06T03:59", "2024-03-05"],
    ["2024-03-06T04:00", "2024-03-06"],
    ["2024-03-07T03:59", "2024-03-06"],
  ])("lets a later cutoff begin with its date: %s is %s", (local, date) => {
    const clocks: Clocks = [{ ...first, fromDay: dayOf("2024-03-06"), cutoffMs: 4 * hour }, first];
    expect(dateBy(clocks, at(local))).toBe(date);
  });

  it.each([
    ["2024-03-05T03:59", "2024-03-04"],
    ["2024-03-05T04:00", "2024-03-05"],
    ["2024-03-05T23:59", "2024-03-05"],
    // An earlier cutoff shortens the day before.
    ["2024-03-06T00:00", "2024-03-06"],
  ])("lets an earlier cutoff begin with its date: %s is %s", (local, date) => {
    const clocks: Clocks = [
      { ...first, fromDay: dayOf("2024-03-06") },
      { ...first, cutoffMs: 4 * hour },
    ];
    expect(dateBy(clocks, at(local))).toBe(date);
  });

  it("looks an instant up on the wall of the clock that had begun", () => {
    const clocks: Clocks = [{ ...first, fromDay: dayOf("2024-03-06"), zone: "Asia/Kolkata" }, first];
    expect(dateBy(clocks, at("2024-03-05T12:00"), true)).toBe("2024-03-05");
    // In Kolkata it is already the 6th, half past midnight.
    expect(dateBy(clocks, at("2024-03-05T19:00"), true)).toBe("2024-03-06");
    expect(dateBy(clocks, at("2024-03-06T19:00"), true)).toBe("2024-03-07");
  });

  it("finds the right one of several", () => {
    const clocks: Clocks = [
      { ...first, fromDay: dayOf("2024-05-01"), cutoffMs: 2 * hour },
      { ...first, fromDay: dayOf("2024-04-01"), cutoffMs: 6 * hour },
      first,
    ];
    expect(dateBy(clocks, at("2024-05-02T01:59"))).toBe("2024-05-01");
    expect(dateBy(clocks, at("2024-04-10T05:59"))).toBe("2024-04-09");
    expect(dateBy(clocks, at("2024-03-10T01:00"))).toBe("2024-03-10");
  });
});
