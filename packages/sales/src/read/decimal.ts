/**
 * Numbers as tills print them, read exactly.
 *
 * Money never passes through a float: a number is an integer of units and a scale, and a product is a product of
 * integers. Separators are strict, since a lenient reader turns 1,5 into 15: a thousands separator must part groups of
 * three (or, as in India, of two and a last one of three), and all of them must be the same.
 */
import { isCurrencyCode, isSameCurrency } from "./currency.ts";
import { notUtf8 } from "./not-utf8.ts";

/** `units / 10 ** scale`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
  /** The ISO 4217 code that stood beside the number, or else the currency's sign, if one did. */
  readonly currency: string | undefined;
}

/** Either what was read, or why it could not be. */
export type Reading<Value> = { readonly value: Value } | { readonly reason: string };

export interface DecimalFormat {
  /** 1.234,56 instead of 1,234.56. */
  readonly decimalComma: boolean;
}

/** A space, a no-break space and a narrow one, which French and Swiss software writes. */
const blanks = " \\u00A0\\u202F";
/** Longer texts are no amounts, and reading them would take time that grows with the square of their length. */
const maxLength = 64;
/** The largest bigint of SQL; the same bound is kept below zero. */
const maxMinor: bigint = 2n ** 63n - 1n;

/**
 * Returns a reader of numbers. It accepts one sign (before, after, or parentheses for a negative), a currency sign or code, thousands
 * separators. The only blanks inside are those that people part groups with: a space, and the two that do not break.
 */
export function compileDecimal({ decimalComma }: DecimalFormat): (text: string) => Reading<Decimal> {
  const point = decimalComma ? "," : "\\.";
  const separator = `[${decimalComma ? "." : ","}'’${blanks}]`;
  // Nobody writes a zero before thousands: 0,500 is a half.
  const grouped = [
    `[1-9]\\d{0,2}(?:(?<g>${separator})\\d{3})(?:\\k<g>\\d{3})*`,
    `[1-9]\\d?(?<g>${separator})\\d{2}(?:\\k<g>\\d{2})*\\k<g>\\d{3}`,
  ];
  const whole = `(?<whole>\\d+|${grouped.join("|")})`;
  const blank = `[${blanks}]*`;
  const money = (name: string): string => `(?<${name}>\\p{Sc}|[A-Z]{3}|R[Ss]\\.?)?`;
  const pattern = new RegExp(
    [
      `^(?<open>\\()?(?<sign>[-+−])?${blank}${money("before")}${blank}(?<inner>[-+−])?${blank}`,
      `(?:${whole}(?:${point}(?<part>\\d+))?|${point}(?<only>\\d+))`,
      // In India, what follows is an end mark: nothing can be added to the amount.
      `(?:${blank}/-)?${blank}${money("after")}${blank}(?<last>[-+−])?(?<close>\\))?$`,
    ].join(""),
    "u",
  );
  return (text) => {
    const trimmed = text.trim();
    if (trimmed === "") return { reason: "is empty" };
    if (trimmed.length > maxLength) return { reason: `is no number: ${trimmed.length} characters` };
    const groups = pattern.exec(trimmed)?.groups;
    return groups === undefined ? { reason: notANumber(trimmed, decimalComma) } : fromGroups(groups, trimmed);
  };
}

type Groups = Readonly<Record<string, string | undefined>>;

function fromGroups(groups: Groups, text: string): Reading<Decimal> {
  const { open, close, sign, inner, last, before, after, whole = "", part, only } = groups;
  const signs = [sign, inner, last, open].filter((each) => each !== undefined);
  const codes = [before, after].filter((each) => each !== undefined && isCurrencyCode(each));
  if ((open === undefined) !== (close === undefined) || signs.length > 1 || codes.length > 1) {
    return { reason: `${JSON.stringify(text)} is no number` };
  }
  if (before !== undefined && after !== undefined && !isSameMoney(before, after)) {
    return { reason: `${JSON.stringify(text)} names two currencies` };
  }
  const fraction = part ?? only ?? "";
  const magnitude = BigInt(whole.replaceAll(/\D/gu, "") + fraction);
  const negative = signs.some((each) => each !== "+");
  return {
    value: { units: negative ? -magnitude : magnitude, scale: fraction.length, currency: codes[0] ?? before ?? after },
  };
}

/** Of a sign and a code, or of two signs: both must fit, not one of them. */
function isSameMoney(before: string, after: string): boolean {
  if (isCurrencyCode(after)) return isSameCurrency(before, after);
  return before === after || (isCurrencyCode(before) && isSameCurrency(after, before));
}

/** Says which option would read it, when that is the other decimal sign. */
function notANumber(text: string, decimalComma: boolean): string {
  if (text.includes("\uFFFD")) return `${JSON.stringify(text)} ${notUtf8}`;
  const hint = decimalComma
    ? /(?:^\D*0\.\d+|\.\d{1,2})\D*$/u.test(text) && " (the comma is the decimal sign here)"
    : /(?:^\D*0,\d+|,\d{1,2})\D*$/u.test(text) && " (for a decimal comma say --decimal-comma)";
  return `${JSON.stringify(text)} is no number${hint || ""}`;
}

/** What an amount must fit: a currency and its decimals. */
export interface Money {
  readonly currency: string;
  readonly digits: number;
}

/**
 * An amount in minor units. More decimals than the currency has are refused, unless they are zeros; three of them after up to three digits
 * too: 12.500 may well mean 12,500.
 */
export function toMinor(decimal: Decimal, money: Money): Reading<bigint> {
  const { units, scale, currency } = withoutZeros(decimal, money);
  const wrong = misfit({ units, scale, currency }, money);
  if (wrong !== undefined) return { reason: wrong };
  return inRange(units * 10n ** BigInt(money.digits - scale));
}

/** Without the zeros that the currency has no digits for, where these can mean nothing else. */
function withoutZeros(decimal: Decimal, { digits }: Money): Decimal {
  const { units, scale } = decimal;
  if (scale <= digits) return decimal;
  const magnitude = units < 0n ? -units : units;
  const surplus = 10n ** BigInt(scale - digits);
  const mayBeThousands = scale === 3 && magnitude >= 1_000n && magnitude < 1_000_000n;
  if (mayBeThousands || units % surplus !== 0n) return decimal;
  return { ...decimal, units: units / surplus, scale: digits };
}

/** Quantity × price in minor units, exactly: a product that has a fraction of a minor unit is refused, never rounded. */
export function productMinor(quantity: Decimal, fullPrice: Decimal, money: Money): Reading<bigint> {
  const price = withoutZeros(fullPrice, money);
  const wrong = misfit(price, money);
  if (wrong !== undefined) return { reason: wrong };
  const units = quantity.units * price.units;
  const surplus = quantity.scale + price.scale - money.digits;
  if (surplus <= 0) return inRange(units * 10n ** BigInt(-surplus));
  const divisor = 10n ** BigInt(surplus);
  if (units % divisor === 0n) return inRange(units / divisor);
  return { reason: `times the quantity has more decimals than ${money.currency}, which has ${money.digits}` };
}

function misfit({ scale, currency }: Decimal, money: Money): string | undefined {
  if (currency !== undefined && !isSameCurrency(currency, money.currency))
    return `is in ${currency}, the total in ${money.currency}`;
  if (scale > money.digits)
    return `has ${scale} ${scale === 1 ? "decimal" : "decimals"}, ${money.currency} has ${money.digits}`;
  return undefined;
}

function inRange(minor: bigint): Reading<bigint> {
  if (minor > maxMinor || minor < -maxMinor) return { reason: "is too large: beyond 64 bits of minor units" };
  return { value: minor };
}
