/** Amounts out of columns: one that has the amount, or a quantity and a price. */

import { ImportFault } from "../import-fault.ts";
import type { Complaint } from "../record/load-lines.ts";
import type { Restaurant } from "../restaurants/restaurant-store.ts";
import { compileDecimal, type Decimal, productMinor, type Reading, toMinor } from "./decimal.ts";
import { remember } from "./remember.ts";
import { plainColumn } from "./row-filter.ts";

export type AmountColumns =
  | { readonly column: string }
  | { readonly quantityColumn: string; readonly priceColumn: string };

export interface AmountReader {
  /** Which columns it needs. */
  readonly columns: readonly string[];
  /** In minor units of the restaurant's currency, from the fields of these columns. */
  read(fields: readonly string[], restaurant: Restaurant): bigint | Complaint;
}

export interface AmountFormat {
  /** 1.234,56 instead of 1,234.56: in all columns, or in these. */
  readonly decimalComma: boolean | readonly string[];
}

/**
 * Compiles how amounts are read. Exact: nothing is rounded, what does not come out even is a complaint. Throws ImportFault `column_missing` for
 * a decimal comma in a column that no amount is read from.
 */
export function compileAmount(amount: AmountColumns, format: AmountFormat): AmountReader {
  const names = "column" in amount ? [amount.column] : [amount.quantityColumn, amount.priceColumn];
  assertAmongThem(format, names);
  const decimalOf = (name: string): ((text: string) => Reading<Decimal>) =>
    remember(compileDecimal({ decimalComma: hasDecimalComma(format, name) }));
  if ("column" in amount) {
    const decimal = decimalOf(amount.column);
    return {
      columns: [amount.column],
      read([field = ""], restaurant) {
        const reading = decimal(field);
        return "value" in reading
          ? settle(toMinor(reading.value, restaurant), field, 0)
          : { column: 0, reason: reading.reason };
      },
    };
  }
  const quantityReader = decimalOf(amount.quantityColumn);
  const priceReader = decimalOf(amount.priceColumn);
  return {
    columns: names,
    read([quantityField = "", priceField = ""], restaurant) {
      const quantity = quantityOf(quantityReader(quantityField), quantityField);
      if ("reason" in quantity) return { column: 0, reason: quantity.reason };
      const price = priceReader(priceField);
      if ("reason" in price) return { column: 1, reason: price.reason };
      if (quantity.value.units < 0n && price.value.units < 0n) {
        return { column: 1, reason: bothNegative(priceField, quantityField, amount.quantityColumn) };
      }
      return settle(productMinor(quantity.value, price.value, restaurant), priceField, 1);
    },
  };
}

/** Whether numbers of this column have a decimal comma. */
export function hasDecimalComma({ decimalComma }: AmountFormat, name: string): boolean {
  if (typeof decimalComma === "boolean") return decimalComma;
  return decimalComma.some((each) => plainColumn(each) === plainColumn(name));
}

function assertAmongThem({ decimalComma }: AmountFormat, names: readonly string[]): void {
  if (typeof decimalComma === "boolean") return;
  const other = decimalComma.find((each) => names.every((name) => plainColumn(name) !== plainColumn(each)));
  if (other === undefined) return;
  throw new ImportFault(
    "column_missing",
    `decimal comma in column ${JSON.stringify(other)}: no amount is read from it; those are ${names.map((name) => JSON.stringify(name)).join(" and ")}`,
    { details: { column: other } },
  );
}

/** A refund has one of them below zero; of two nobody knows whether the sale was one. */
function bothNegative(price: string, quantity: string, quantityColumn: string): string {
  return `${JSON.stringify(price.trim())} and ${quantityColumn} ${JSON.stringify(quantity.trim())} are both below zero: their product would be a sale`;
}

function quantityOf(reading: Reading<Decimal>, field: string): Reading<Decimal> {
  if ("reason" in reading || reading.value.currency === undefined) return reading;
  return { reason: `${JSON.stringify(field.trim())} is an amount of money, no quantity` };
}

function settle(reading: Reading<bigint>, field: string, column: number): bigint | Complaint {
  return "value" in reading ? reading.value : { column, reason: `${JSON.stringify(field.trim())} ${reading.reason}` };
}
