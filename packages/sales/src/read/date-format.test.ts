import { utc } from "@date-fns/utc";
import { format as formatDate, parse } from "date-fns";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compileDateFormat } from "./date-format.ts";

function iso(format: string, text: string): string | undefined {
  const ms = compileDateFormat(format).read(text);
  return ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16);
}

describe("compileDateFormat", () => {
  it.each([
    ["dd/MM/yyyy HH:mm", "03/08/2019 20:25", "2019-08-03T20:25"],
    ["dd/MM/yy HH:mm", "03/08/19 20:25", "2019-08-03T20:25"],
    ["dd/MM/yy HH:mm", "03/08/69 20:25", "1969-08-03T20:25"],
    ["dd/MM/yy HH:mm", "03/08/68 20:25", "2068-08-03T20:25"],
    ["MM/dd/yyyy hh:mm a", "08/03/2019 08:25 PM", "2019-08-03T20:25"],
    ["yyyy-MM-dd'T'HH:mm:ss", "2019-08-03T20:25:59", "2019-08-03T20:25"],
    ["HH:mm dd.MM.yyyy", "20:25 03.08.2019", "2019-08-03T20:25"],
    ["d MMM yyyy, HH:mm", "3 Aug 2019, 20:25", "2019-08-03T20:25"],
    ["d MMMM yyyy 'at' HH:mm", "3 August 2019 at 20:25", "2019-08-03T20:25"],
    ["yyyyMMddHHmm", "201908032025", "2019-08-03T20:25"],
    ["yyyy-MM-dd", "2019-08-03", "2019-08-03T00:00"],
    ["dd/MM/yyyy HH:mm", " 29/02/2020 00:00 ", "2020-02-29T00:00"],
  ])("reads %s from %s as %s", (format, text, expected) => {
    expect(iso(format, text)).toBe(expected);
  });

  it.each([
    ["dd/MM/yyyy HH:mm", "31/02/2019 12:00"],
    ["dd/MM/yyyy HH:mm", "29/02/2019 12:00"],
    ["dd/MM/yyyy HH:mm", "03/13/2019 12:00"],
    ["dd/MM/yyyy HH:mm", "03/08/2019 24:00"],
    ["dd/MM/yyyy HH:mm", "03/08/2019 12:60"],
    ["dd/MM/yyyy HH:mm", "03/08/19 12:00"],
    ["dd/MM/yyyy HH:mm", "03/08/2019"],
    ["dd/MM/yyyy HH:mm", "03/08/2019 12:00 x"],
    ["dd/MM/yyyy HH:mm", "3 Aug 2019 12:00"],
    ["dd/MM/yyyy HH:mm", ""],
    ["dd/MM/yyyy HH:mm", "1".repeat(1_000)],
    ["yyyy-MM-dd", "1899-12-31"],
    ["yyyy-MM-dd", "2200-01-01"],
  ])("finds no date as %s in %s", (format, text) => {
    expect(iso(format, text)).toBeUndefined();
  });

  it.each([
    ["dd/mm/yyyy", "does not say year, month and day"],
    ["dd/MM HH:mm", "does not say year, month and day"],
    ["MM/yyyy", "does not say year, month and day"],
    ["dd/MM/yyyy hh:mm", "does not say the hour"],
    ["DD/MM/YYYY", "the tokens are yyyy and dd"],
    ["foo", "is no Unicode date format"],
    ["", "is no Unicode date format"],
  ])("refuses the format %s, which %s", (format, fact) => {
    expect(() => compileDateFormat(format)).toThrow(
      expect.objectContaining({ code: "date_format_invalid", message: expect.stringContaining(fact) as string }),
    );
  });

  it("knows whether there is a time, and whether it names an instant", () => {
    expect(compileDateFormat("yyyy-MM-dd")).toMatchObject({ hasTime: false, isInstant: false });
    expect(compileDateFormat("yyyy-MM-dd HH:mm")).toMatchObject({ hasTime: true, isInstant: false });
    expect(compileDateFormat("yyyy-MM-dd'T'HH:mm:ssXXX")).toMatchObject({ hasTime: true, isInstant: true });
  });

  it("knows the time in a format of the locale", () => {
    expect(compileDateFormat("Pp")).toMatchObject({ hasTime: true, isInstant: false });
    expect(iso("Pp", "01/05/2024, 1:30 AM")).toBe("2024-01-05T01:30");
    expect(compileDateFormat("PP")).toMatchObject({ hasTime: false });
  });

  it("reads an instant in UTC", () => {
    expect(iso("yyyy-MM-dd'T'HH:mmXXX", "2019-08-03T20:25+01:00")).toBe("2019-08-03T19:25");
    expect(iso("yyyy-MM-dd'T'HH:mmXXX", "2019-08-03T20:25Z")).toBe("2019-08-03T20:25");
  });

  it("reads a day of the year without a word on the console", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    expect(iso("yyyyDDD", "2021235")).toBe("2021-08-23T00:00");
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it("reads in parts what date-fns reads as a whole", () => {
    const formats = fc.constantFrom(
      "dd/MM/yyyy HH:mm",
      "dd/MM/yy HH:mm:ss",
      "hh:mm a dd/MM/yyyy",
      "yyyy-MM-dd'T'HH:mm:ss.SSS",
      "EEE d MMM yyyy HH:mm",
      "yyyyMMdd HHmm",
    );
    const instants = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2068, 0, 1) });
    fc.assert(
      fc.property(formats, instants, (format, ms) => {
        const text = formatDate(utc(ms), format, { in: utc });
        const whole = parse(text, format, utc(Date.UTC(2019, 0, 1)), { in: utc }).getTime();
        expect(compileDateFormat(format).read(text)).toBe(whole);
      }),
    );
  });
});

describe.each([
  ["Europe/London", "31/03/2019 01:30", "2019-03-31T01:30"],
  ["America/Sao_Paulo", "04/11/2018 00:30", "2018-11-04T00:30"],
  ["Pacific/Apia", "30/12/2011 12:00", "2011-12-30T12:00"],
])("compileDateFormat on a machine in %s", (zone, skipped, expected) => {
  beforeEach(() => void vi.stubEnv("TZ", zone));
  afterEach(() => void vi.unstubAllEnvs());

  it(`reads ${skipped}, which that zone's clocks skipped`, () => {
    // The machine's own dates cannot hold it.
    expect(formatDate(parse(skipped, "dd/MM/yyyy HH:mm", new Date(2019, 0, 1)), "yyyy-MM-dd'T'HH:mm")).not.toBe(
      expected,
    );
    expect(iso("dd/MM/yyyy HH:mm", skipped)).toBe(expected);
    expect(iso("yyyy-MM-dd", expected.slice(0, 10))).toBe(`${expected.slice(0, 10)}T00:00`);
  });
});

describe("a format that would be read wrongly", () => {
  it.each([
    ["yyyy-MM-dd'T'HH:mm:ss'Z'", "write X"],
    ["yyyy-MM-dd HH:mm 'UTC'", "write X"],
    ["yyyy-MM-dd HH:mm' GMT'", "write X"],
    ["yyyy-MM-dd HH:mm '+0000'", "write X"],
    ["yyyy-MM-dd HH:mm:ss'.000Z'", "write X"],
    ["yyyy-MM-dd HH:mm:ss.000+0000", "write X"],
    ["yyyy-MM-dd HH:mm:ss'+00'", "write X"],
    ["yyyy-MM-dd HH:mm '(UTC)'", "write X"],
    ["yyyy-MM-dd HH:mm 'Etc/UTC'", "write X"],
    ["yyyyLdd", "write it twice"],
    ["yyyy-MM-dd kk:mm", "HH"],
    ["dMyy", "write it twice"],
    ["dMMyyyy HHmm", "write it twice"],
  ])("%s is refused", (format, remedy) => {
    expect(() => compileDateFormat(format)).toThrow(remedy);
  });

  it.each([
    ["ddMMyy", "010124", "2024-01-01T00:00"],
    ["yyyyMMddHHmmss", "20240105123015", "2024-01-05T12:30"],
    ["ddMMyyyy HH:mm", "05012024 9:05", "2024-01-05T09:05"],
    ["yyyy-MM-dd'T'HH:mm:ssX", "2024-01-05T12:30:15Z", "2024-01-05T12:30"],
    ["T", "1704457800000", "2024-01-05T12:30"],
    ["t", "1704457800", "2024-01-05T12:30"],
    ["ddMMMyyyy", "05JAN2024", "2024-01-05T00:00"],
    ["dMMMyy", "5Jan24", "2024-01-05T00:00"],
    ["EEE MMM dd yyyy HH:mm:ss 'GMT'xx", "Fri Jan 05 2024 12:30:00 GMT+0100", "2024-01-05T11:30"],
  ])("%s reads %s", (format, text, expected) => {
    const ms = compileDateFormat(format).read(text);
    expect(new Date(ms ?? Number.NaN).toISOString().slice(0, 16)).toBe(expected);
  });

  it.each([
    ["ddMMyy", "10124"],
    ["yyyyMMdd", "2024015"],
    ["HHmm dd.MM.yyyy", "905 05.01.2024"],
    ["yyyyLLdd", "2024015"],
    ["uuuuMMdd", "2024015"],
    ["yyyyDDD", "202435"],
    ["T", "1704457800"],
    ["t", "1704457800000"],
  ])("%s does not read %s", (format, text) => {
    expect(compileDateFormat(format).read(text)).toBeUndefined();
  });
});
