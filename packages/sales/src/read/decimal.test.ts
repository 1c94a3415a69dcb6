import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileDecimal, type Decimal, productMinor, type Reading, toMinor } from "./decimal.ts";

const point = compileDecimal({ decimalComma: false });
const comma = compileDecimal({ decimalComma: true });
const pounds = { currency: "GBP", digits: 2 };
const yen = { currency: "JPY", digits: 0 };
const dinars = { currency: "KWD", digits: 3 };

function valueOf<Value>(reading: Reading<Value>): Value {
  if ("value" in reading) return reading.value;
  throw new Error(reading.reason);
}

/** "units/scale", or the reason. */
function show(reading: Reading<Decimal>): string {
  return "value" in reading ? `${reading.value.units}/${reading.value.scale}` : reading.reason;
}

/** Writes an integer of minor units with a decimal sign and separated thousands. */
function written(minor: bigint, digits: number, signs: { point: string; separator: string }): string {
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, "0");
  const whole = text.slice(0, text.length - digits).replaceAll(/\B(?=(?:\d{3})+$)/gu, signs.separator);
  return `${minor < 0n ? "-" : ""}${whole}${digits === 0 ? "" : signs.point + text.slice(-digits)}`;
}

describe("compileDecimal", () => {
  it.each([
    ["12.50", "1250/2"],
    [" 12 ", "12/0"],
    [".5", "5/1"],
    ["-0.80", "-80/2"],
    ["+3", "3/0"],
    ["−3", "-3/0"],
    ["12.50-", "-1250/2"],
    ["(12.50)", "-1250/2"],
    ["(£12.50)", "-1250/2"],
    ["£1,234.50", "123450/2"],
    ["-£12.50", "-1250/2"],
    ["£-12.50", "-1250/2"],
    ["12.50 €", "1250/2"],
    ["₹1,00,000.00", "10000000/2"],
    ["1 234 567.89", "123456789/2"],
    ["1\u202f234.5", "12345/1"],
    ["CHF 1'234.50", "123450/2"],
    ["12.50 GBP", "1250/2"],
    ["£12.50 GBP", "1250/2"],
    ["9007199254740993", "9007199254740993/0"],
    ["Rs. 1,23,456.00", "12345600/2"],
    ["Rs 450", "450/0"],
    ["450/-", "450/0"],
    ["RS. 450 /-", "450/0"],
    ["$5 USD", "5/0"],
    ["CAD 5$", "5/0"],
    ["₹1,234/-", "1234/0"],
    ["0.500", "500/3"],
  ])("reads %s as %s", (text, expected) => {
    expect(show(point(text))).toBe(expected);
  });

  it.each([
    ["1.234,56", "123456/2"],
    ["1 234,5", "12345/1"],
    ["12,50 €", "1250/2"],
    ["1.234", "1234/0"],
    ["-,5", "-5/1"],
  ])("reads %s as %s with a decimal comma", (text, expected) => {
    expect(show(comma(text))).toBe(expected);
  });

  it.each([
    "abc",
    "1.2.3",
    "1,5",
    "1,23,4",
    "1,2345",
    "1,234'567",
    "12,34,567,89",
    "--5",
    "(-5)",
    "-5-",
    "(5",
    "5)",
    "1e5",
    "0x10",
    "£€5",
    "GBP 5 EUR",
    "5.",
    "NaN",
    "Infinity",
    "٣",
    "5\0",
    "1,234.5,6",
    "0,500",
    "00,500",
    "0,12,345",
    "0 500",
    "1\v234.00",
    "1\n234.00",
    "1\t234",
    "1\u2003234",
    "£\t5",
    "450 / -",
  ])("refuses %s", (text) => {
    expect(show(point(text))).toContain("is no number");
  });

  it("says that a field is empty", () => {
    expect(show(point("  "))).toBe("is empty");
  });

  it("names the option that would read the number", () => {
    expect(show(point("12,50"))).toBe('"12,50" is no number (for a decimal comma say --decimal-comma)');
    expect(show(point("0,500"))).toBe('"0,500" is no number (for a decimal comma say --decimal-comma)');
    expect(show(comma("12.50"))).toBe('"12.50" is no number (the comma is the decimal sign here)');
  });

  it("refuses a text that is too long to be an amount without reading it", () => {
    expect(show(point("1".repeat(1_000_000)))).toBe("is no number: 1000000 characters");
  });

  it("reads back every amount that was written, with either decimal sign", () => {
    const amounts = fc.tuple(fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }), fc.constantFrom(0, 2, 3, 4));
    fc.assert(
      fc.property(amounts, ([minor, digits]) => {
        const money = { currency: "XXX", digits };
        expect(toMinor(valueOf(point(written(minor, digits, { point: ".", separator: "," }))), money)).toEqual({
          value: minor,
        });
        expect(toMinor(valueOf(comma(written(minor, digits, { point: ",", separator: "." }))), money)).toEqual({
          value: minor,
        });
      }),
    );
  });
});

describe("toMinor", () => {
  it.each([
    ["12.5", pounds, 1250n],
    ["12", pounds, 1200n],
    ["12", yen, 12n],
    ["1.234", dinars, 1234n],
    ["2.5000", pounds, 250n],
    ["0.500", pounds, 50n],
    ["-1234.500", pounds, -123_450n],
    ["12.00", yen, 12n],
    ["$12", { currency: "CAD", digits: 2 }, 1200n],
    ["€12", { currency: "EUR", digits: 2 }, 1200n],
    ["¥12", yen, 12n],
    ["￥12", yen, 12n],
    ["Rs. 12", { currency: "INR", digits: 2 }, 1200n],
    ["Rs 12", { currency: "PKR", digits: 2 }, 1200n],
    ["£12", { currency: "EGP", digits: 2 }, 1200n],
    ["92233720368547758.07", pounds, 2n ** 63n - 1n],
    ["-92233720368547758.07", pounds, -(2n ** 63n) + 1n],
  ])("takes %s in %o for %s minor units", (text, money, minor) => {
    expect(toMinor(valueOf(point(text)), money)).toEqual({ value: minor });
  });

  it.each([
    ["12.345", pounds, "has 3 decimals, GBP has 2"],
    ["12.500", pounds, "has 3 decimals, GBP has 2"],
    ["12.5", yen, "has 1 decimal, JPY has 0"],
    ["92233720368547758.08", pounds, "is too large: beyond 64 bits of minor units"],
    ["-92233720368547758.08", pounds, "is too large: beyond 64 bits of minor units"],
    ["EUR 12", pounds, "is in EUR, the total in GBP"],
    ["€12", pounds, "is in €, the total in GBP"],
    ["₹12", pounds, "is in ₹, the total in GBP"],
    ["$12", pounds, "is in $, the total in GBP"],
    ["Rs. 12", pounds, "is in Rs., the total in GBP"],
    ["12¢", { currency: "USD", digits: 2 }, "is in ¢, the total in USD"],
    ["1.500", yen, "has 3 decimals, JPY has 0"],
  ])("refuses %s in %o", (text, money, reason) => {
    expect(toMinor(valueOf(point(text)), money)).toEqual({ reason });
  });
});

describe("two currencies beside one number", () => {
  it.each(["€100 GBP", "GBP 100 €", "£100€", "Rs 100₹", "$100 EUR"])("%s is refused, whichever would fit", (text) => {
    expect(show(point(text))).toBe(`${JSON.stringify(text)} names two currencies`);
  });
});

describe("productMinor", () => {
  it.each([
    ["3", "0.10", 30n],
    ["0.1", "0.20", 2n],
    ["-2", "12.95", -2590n],
    ["2.500", "0.80", 200n],
    ["1000000000", "92233720.36", 9223372036000000000n],
  ])("multiplies %s by %s to %s exactly", (quantity, price, minor) => {
    expect(productMinor(valueOf(point(quantity)), valueOf(point(price)), pounds)).toEqual({ value: minor });
  });

  it.each([
    ["1.5", "0.33", "times the quantity has more decimals than GBP, which has 2"],
    ["2", "0.125", "has 3 decimals, GBP has 2"],
    ["1000000000", "92233720.37", "is too large: beyond 64 bits of minor units"],
  ])("refuses %s times %s", (quantity, price, reason) => {
    expect(productMinor(valueOf(point(quantity)), valueOf(point(price)), pounds)).toEqual({ reason });
  });

  it("equals the product of the integers, or refuses, for any quantity and price", () => {
    const factor = fc.tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: 0, max: 3 }));
    const price = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n });
    fc.assert(
      fc.property(factor, price, ([quantity, scale], minor) => {
        const product = productMinor(
          { units: quantity, scale, currency: undefined },
          { units: minor, scale: 2, currency: undefined },
          pounds,
        );
        const exact = quantity * minor;
        const divisor = 10n ** BigInt(scale);
        const fits = exact % divisor === 0n && exact / divisor < 2n ** 63n && exact / divisor > -(2n ** 63n);
        expect("value" in product ? product.value * divisor : "refused").toBe(fits ? exact : "refused");
      }),
    );
  });
});
