/** Money for people: exact digits of the currency's major unit. Machines get minor units. */
import { currencyDigits } from "@nightwriter/sales";

/** `-1234` with 2 digits is `-12.34`; exact, whatever its size. */
export function formatMinor(minor: bigint, digits: number): string {
  const sign = minor < 0n ? "-" : "";
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, "0");
  const major = text.slice(0, text.length - digits);
  return digits === 0 ? `${sign}${major}` : `${sign}${major}.${text.slice(-digits)}`;
}

/** `-1,234.50 GBP`. Without a currency, which a job of another kind may not have: `-123,450 minor units`. */
export function formatMoney(minor: bigint, currency: string): string {
  if (currency === "") return `${grouped(formatMinor(minor, 0))} minor units`;
  return `${grouped(formatMinor(minor, currencyDigits(currency)))} ${currency}`;
}

/** `-1,234.50 GBP, 3 JPY`, or `nothing sold`. Minor units by currency, as numbers or as text. */
export function formatSums(sums: ReadonlyMap<string, bigint> | Readonly<Record<string, string>>): string {
  const entries = sums instanceof Map ? [...sums] : Object.entries(sums);
  if (entries.length === 0) return "nothing sold";
  return entries.map(([currency, minor]) => formatMoney(BigInt(minor), currency)).join(", ");
}

/** With a comma before every third digit of the whole part. */
function grouped(number: string): string {
  const [whole = "", fraction] = number.split(".");
  const withCommas = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? withCommas : `${withCommas}.${fraction}`;
}
