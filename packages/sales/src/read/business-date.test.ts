import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { businessDate, businessDay, isoDateOf, wallMsOf } from "./business-date.ts";

const hourMs = 3_600_000;

function dateOf(local: string, cutoff: string): string {
  return businessDate(Temporal.PlainDateTime.from(local), Temporal.PlainTime.from(cutoff)).toString();
}

describe("businessDate", () => {
  it.each([
    ["2026-03-10T03:59", "04:00", "2026-03-09"],
    ["2026-03-10T04:00", "04:00", "2026-03-10"],
    ["2026-03-10T00:00", "00:00", "2026-03-10"],
    ["2026-01-01T00:30", "04:00", "2025-12-31"],
    ["2028-03-01T01:00", "02:30", "2028-02-29"],
  ])("counts %s with a cutoff of %s to %s", (local, cutoff, expected) => {
    expect(dateOf(local, cutoff)).toBe(expected);
  });

  it("goes by the wall clock on the night when clocks go forward", () => {
    // In London 02:00 became 03:00. Four hours before the instant of 04:30 it was 23:30 on the wall.
    const local = "2026-03-29T04:30";
    const instant = Temporal.PlainDateTime.from(local).toZonedDateTime("Europe/London");
    expect(instant.subtract({ hours: 4 }).toPlainDate().toString()).toBe("2026-03-28");
    expect(dateOf(local, "04:00")).toBe("2026-03-29");
  });

  it("goes by the wall clock on the night when clocks go back", () => {
    // 01:30 came twice. Four hours before the second 03:30 it was 00:30 on the wall, of the same day.
    const local = "2026-10-25T03:30";
    const instant = Temporal.PlainDateTime.from(local).toZonedDateTime("Europe/London");
    expect(instant.subtract({ hours: 4 }).toPlainDate().toString()).toBe("2026-10-25");
    expect(dateOf(local, "04:00")).toBe("2026-10-24");
  });

  it("takes a local time that the clocks skipped", () => {
    expect(dateOf("2026-03-29T01:30", "04:00")).toBe("2026-03-28");
  });
});

describe("businessDay", () => {
  it("equals businessDate for any wall time and cutoff", () => {
    const wall = fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2199, 11, 31) });
    const minutes = fc.integer({ min: 0, max: 24 * 60 - 1 });
    fc.assert(
      fc.property(wall, minutes, (ms, cutoff) => {
        const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO("UTC").toPlainDateTime();
        const expected = businessDate(local, Temporal.PlainTime.from("00:00").add({ minutes: cutoff }));
        expect(isoDateOf(businessDay(ms, cutoff * 60_000))).toBe(expected.toString());
      }),
    );
  });
});

describe("wallMsOf", () => {
  it.each([
    ["2026-03-29T00:59:00Z", "Europe/London", "2026-03-29T00:59:00Z"],
    ["2026-03-29T01:00:00Z", "Europe/London", "2026-03-29T02:00:00Z"],
    ["2026-03-29T20:00:00Z", "Asia/Kolkata", "2026-03-30T01:30:00Z"],
  ])("sees %s on a wall in %s as %s", (instant, zone, wall) => {
    expect(wallMsOf(Date.parse(instant), zone)).toBe(Date.parse(wall));
  });

  it("leaves whole hours between two instants of a day without a change", () => {
    expect(wallMsOf(hourMs, "Asia/Kolkata") - wallMsOf(0, "Asia/Kolkata")).toBe(hourMs);
  });
});
