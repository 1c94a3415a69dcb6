/**
 * How many decimals a currency has, by ISO 4217 (list one, published by its maintenance agency, SIX).
 *
 * Not asked of Intl: its digits are those that shops print, not those that the standard counts in, and differ for a
 * score of currencies (HUF, PKR and IDR have 2, Intl says 0; IQD has 3, Intl says 0).
 */
import { ImportFault } from "../import-fault.ts";

/** Every currency that is not here has 2. */
const digitsBySize = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};
const exceptions = new Map(
  Object.entries(digitsBySize).flatMap(([digits, codes]) => codes.split(" ").map((code) => [code, Number(digits)])),
);
const known = new Set([...Intl.supportedValuesOf("currency"), ...exceptions.keys()]);

/** The decimals of an ISO 4217 currency, 0 to 4. Throws ImportFault `currency_unknown`. */
export function currencyDigits(currency: string): number {
  if (!known.has(currency)) {
    throw new ImportFault(
      "currency_unknown",
      `currency ${currency}: not in ISO 4217; name it by its three letters, GBP`,
      {
        details: { currency },
      },
    );
  }
  return exceptions.get(currency) ?? 2;
}

/** Whether it is one, and not three letters only. */
export function isCurrency(text: string): boolean {
  return known.has(text);
}

export function isCurrencyCode(text: string): boolean {
  return /^[A-Z]{3}$/u.test(text);
}

/** Signs that Unicode's data give to fewer currencies than people do. */
const shared: ReadonlyMap<string, string> = new Map([
  ["Rs", "INR PKR LKR NPR MUR SCR"],
  ["\uFDFC", "IRR YER OMR SAR QAR"],
]);
const symbols = new Map<string, string>();
/** What was found, by sign and currency: it is asked for each line that has a sign, and there are few of both. */
const signs = new Map<string, boolean>();

/**
 * Whether a code, or a sign beside a number, is the currency's. A sign may be many currencies', `$` for one; by the narrow symbols of the
 * Unicode Common Locale Data Repository.
 */
export function isSameCurrency(written: string, currency: string): boolean {
  if (isCurrencyCode(written)) return written === currency;
  const pair = `${written} ${currency}`;
  const known = signs.get(pair);
  if (known !== undefined) return known;
  const fits = isSignOf(written, currency);
  signs.set(pair, fits);
  return fits;
}

function isSignOf(written: string, currency: string): boolean {
  const sign = written.normalize("NFKC").replace(/^Rs\.?$/iu, "Rs");
  const sharing = shared.get(written) ?? shared.get(sign);
  return sharing?.split(" ").includes(currency) ?? symbolOf(currency).includes(sign);
}

function symbolOf(currency: string): string {
  const known = symbols.get(currency);
  if (known !== undefined) return known;
  const parts = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
    currencyDisplay: "narrowSymbol",
  }).formatToParts(0);
  const symbol = parts.find(({ type }) => type === "currency")?.value.normalize("NFKC") ?? "";
  symbols.set(currency, symbol);
  return symbol;
}
