import { describe, expect, it } from "vitest";
import { currencyDigits, isSameCurrency } from "./currency.ts";

describe("currencyDigits", () => {
  it.each([
    ["GBP", 2],
    ["INR", 2],
    ["JPY", 0],
    ["KWD", 3],
    ["CLF", 4],
    // Where what shops print is not what the standard says.
    ["HUF", 2],
    ["PKR", 2],
    ["IDR", 2],
    ["IQD", 3],
  ])("gives %s %i decimals, as ISO 4217 does", (currency, digits) => {
    expect(currencyDigits(currency)).toBe(digits);
  });

  it.each(["ABC", "gbp", "£", ""])("refuses %s", (currency) => {
    expect(() => currencyDigits(currency)).toThrow(expect.objectContaining({ code: "currency_unknown" }));
  });
});

describe("isSameCurrency", () => {
  it.each([
    ["$", "USD CAD AUD NZD SGD HKD MXN TWD FJD"],
    ["£", "GBP EGP"],
    ["¥", "JPY CNY"],
    ["￥", "JPY"],
    ["Rs", "INR PKR LKR NPR"],
    ["RS.", "INR"],
    ["₨", "PKR"],
  ])("takes %s for any of %s", (sign, currencies) => {
    for (const currency of currencies.split(" ")) expect(isSameCurrency(sign, currency)).toBe(true);
  });

  it.each([
    ["€", "GBP"],
    ["$", "GBP"],
    ["₹", "PKR"],
    ["Rs", "GBP"],
    ["¢", "USD"],
    ["EUR", "GBP"],
  ])("does not take %s for %s", (sign, currency) => {
    expect(isSameCurrency(sign, currency)).toBe(false);
  });
});
