import { describe, expect, it } from "vitest";
import { businessDateOf, dueAt, expectedNights, type Nightly } from "./index.ts";

const nightly = (cron: string, timeZone: string): Nightly => ({ definition: { cron, timeZone } });
const date = (text: string): Temporal.PlainDate => Temporal.PlainDate.from(text);
const instant = (text: string): Temporal.Instant => Temporal.Instant.from(text);
const newYork = nightly("30 2 * * *", "America/New_York");

describe("dueAt", () => {
  it("is the cron's wall time on the date after the business date, in the job's zone", () => {
    expect(String(dueAt(newYork, date("2026-01-14")))).toBe("2026-01-15T07:30:00Z");
  });
  it("is the end of the gap when clocks go forward over the wall time", () => {
    // 2026-03-08: from 01:59:59 -05:00 to 03:00:00 -04:00.
    expect(String(dueAt(newYork, date("2026-03-07")))).toBe("2026-03-08T07:00:00Z");
  });
  it("is the first of the two when clocks go back and the wall time comes twice", () => {
    expect(String(dueAt(nightly("30 1 * * *", "America/New_York"), date("2026-10-31")))).toBe("2026-11-01T05:30:00Z");
  });
  it("is the end of the gap when a zone leaves out the whole date", () => {
    // Samoa had no 2011-12-30.
    expect(String(dueAt(nightly("30 3 * * *", "Pacific/Apia"), date("2011-12-29")))).toBe("2011-12-30T10:00:00Z");
  });
  it("is the earliest time of a cron that fires more than once a day", () => {
    expect(String(dueAt(nightly("*/20 22-2,5 * * *", "UTC"), date("2026-05-01")))).toBe("2026-05-02T00:00:00Z");
  });
  it("is undefined when the cron does not fire on the date after", () => {
    const weekdays = nightly("30 3 * * 1-5", "UTC");
    expect(dueAt(weekdays, date("2026-11-27"))).toBeUndefined();
    expect(String(dueAt(weekdays, date("2026-11-29")))).toBe("2026-11-30T03:30:00Z");
  });
  it("refuses what is no cron expression", () => {
    expect(() => dueAt(nightly("61 * * * *", "UTC"), date("2026-01-01"))).toThrow("61 * * * *: is no cron expression");
  });
});

describe("businessDateOf", () => {
  it("is the date before, from the instant of the tick on", () => {
    expect(String(businessDateOf(newYork, instant("2026-01-15T07:30:00Z")))).toBe("2026-01-14");
  });
  it("is still the date before that a moment earlier", () => {
    expect(String(businessDateOf(newYork, instant("2026-01-15T07:29:59.999Z")))).toBe("2026-01-13");
  });
  it("skips dates that have no night", () => {
    expect(String(businessDateOf(nightly("30 3 * * 1", "UTC"), instant("2026-11-28T12:00:00Z")))).toBe("2026-11-22");
  });
  it("is undefined when no night was due in the year before", () => {
    expect(businessDateOf(nightly("0 0 29 2 *", "UTC"), instant("2027-06-01T00:00:00Z"))).toBeUndefined();
  });
});

describe("expectedNights", () => {
  it("loses no date and doubles none over both clock changes of a year, in any zone with them", () => {
    for (const zone of [
      "America/New_York",
      "Europe/Berlin",
      "Australia/Lord_Howe",
      "Africa/Casablanca",
      "America/Sao_Paulo",
    ]) {
      const nights = expectedNights(
        nightly("30 2 * * *", zone),
        instant("2017-01-01T12:00:00Z"),
        instant("2018-01-01T12:00:00Z"),
      );
      const everyDate = Array.from({ length: 365 }, (_, day) => date("2017-01-01").add({ days: day }).toString());
      expect(nights.map(String), zone).toEqual(everyDate);
    }
  });
  it("includes a night that is due at the end of the interval and not one that was due at its beginning", () => {
    const job = nightly("30 3 * * *", "UTC");
    const nights = expectedNights(job, instant("2026-11-01T03:30:00Z"), instant("2026-11-03T03:30:00Z"));
    expect(nights.map(String)).toEqual(["2026-11-01", "2026-11-02"]);
  });
  it("is empty for an empty interval", () => {
    const now = instant("2026-11-01T03:30:00Z");
    expect(expectedNights(nightly("30 3 * * *", "UTC"), now, now)).toEqual([]);
  });
});
