import { describe, expect, it } from "vitest";
import { currencyDigits } from "./currency.ts";

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
