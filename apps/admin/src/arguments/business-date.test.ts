import { describe, expect, it } from "vitest";
import { assertNotFarAhead, assertNotFuture, assertOver, datesBetween, parseBusinessDate } from "./business-date.ts";

describe("parseBusinessDate", () => {
  it("reads a day that exists, the 29th of February of a leap year too", () => {
    expect(parseBusinessDate("2024-02-29").toString()).toBe("2024-02-29");
  });

  it.each(["2025-02-29", "2026-04-31", "2026-13-01", "2026-00-10"])("refuses %s, which no calendar has", (text) => {
    expect(() => parseBusinessDate(text)).toThrow("There is no such day.");
  });

  it.each(["2026-3-28", "28/03/2026", "20260328", "2026-03-28T00:00", "today", ""])(
    "refuses %j, which is written otherwise",
    (text) => {
      expect(() => parseBusinessDate(text)).toThrow("Write it as YYYY-MM-DD.");
    },
  );
});

describe("assertNotFuture", () => {
  const now = Temporal.Instant.from("2026-03-28T11:00:00Z");

  it("accepts the date that it is by now where days begin first", () => {
    expect(() => assertNotFuture(Temporal.PlainDate.from("2026-03-29"), now)).not.toThrow();
  });

  it("refuses a date that has begun nowhere, naming the latest one", () => {
    expect(() => assertNotFuture(Temporal.PlainDate.from("2026-03-30"), now)).toThrow(
      "date 2026-03-30: lies in the future; the latest that can have sales is 2026-03-29",
    );
  });
});

describe("assertNotFarAhead", () => {
  const now = Temporal.Instant.from("2026-03-28T11:00:00Z");

  it("leaves a date within a year to the database, whose clock may be right where this one is wrong", () => {
    expect(() => assertNotFarAhead(Temporal.PlainDate.from("2027-03-01"), now)).not.toThrow();
  });

  it("refuses one that lies further ahead", () => {
    expect(() => assertNotFarAhead(Temporal.PlainDate.from("2062-03-01"), now)).toThrow("lies in the future");
  });
});

describe("assertOver", () => {
  const job = { definition: { cron: "30 3 * * *", timeZone: "Europe/Paris" } };
  const now = Temporal.Instant.from("2026-03-28T23:30:00Z");

  it("accepts the date that ended in the job's time zone", () => {
    expect(() => assertOver(job, Temporal.PlainDate.from("2026-03-28"), now)).not.toThrow();
  });

  it("refuses the date that it still is there, with the remedy", () => {
    expect(() => assertOver(job, Temporal.PlainDate.from("2026-03-29"), now)).toThrow(
      /is not over in Europe\/Paris until 2026-03-29T22:00:00Z.*--restaurant/,
    );
  });
});

describe("datesBetween", () => {
  const dates = (from: string, to: string): string[] =>
    datesBetween(Temporal.PlainDate.from(from), Temporal.PlainDate.from(to)).map(String);

  it("has both ends, across a month's end", () => {
    expect(dates("2024-02-28", "2024-03-01")).toEqual(["2024-02-28", "2024-02-29", "2024-03-01"]);
  });

  it("is the date itself when it begins and ends there", () => {
    expect(dates("2026-03-28", "2026-03-28")).toEqual(["2026-03-28"]);
  });

  it("refuses a range that ends before it begins", () => {
    expect(() => dates("2026-03-28", "2026-03-27")).toThrow("the range ends before it begins");
  });
});
