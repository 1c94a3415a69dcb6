/** Amounts out of columns: one that has the amount, or a quantity and a price. */

import type { Complaint } from "../record/load-lines.ts";
import type { Restaurant } from "../restaurants/restaurant-store.ts";
import { compileDecimal, type Decimal, productMinor, type Reading, toMinor } from "./decimal.ts";
import { remember } from "./remember.ts";

export type AmountColumns =
  | { readonly column: string }
  | { readonly quantityColumn: string; readonly priceColumn: string };

export interface AmountReader {
  /** Which columns it needs. */
  readonly columns: readonly string[];
  /** In minor units of the restaurant's currency, from the fields of these columns. */
  read(fields: readonly string[], restaurant: Restaurant): bigint | Complaint;
}

/** Compiles how amounts are read. Exact: nothing is rounded, what does not come out even is a complaint. */
export function compileAmount(amount: AmountColumns, { decimalComma }: { decimalComma: boolean }): AmountReader {
  const decimal = remember(compileDecimal({ decimalComma }));
  if ("column" in amount) {
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
  return {
    columns: [amount.quantityColumn, amount.priceColumn],
    read([quantityField = "", priceField = ""], restaurant) {
      const quantity = quantityOf(decimal(quantityField), quantityField);
      if ("reason" in quantity) return { column: 0, reason: quantity.reason };
      const price = decimal(priceField);
      if ("reason" in price) return { column: 1, reason: price.reason };
      return settle(productMinor(quantity.value, price.value, restaurant), priceField, 1);
    },
  };
}

function quantityOf(reading: Reading<Decimal>, field: string): Reading<Decimal> {
  if ("reason" in reading || reading.value.currency === undefined) return reading;
  return { reason: `${JSON.stringify(field.trim())} is an amount of money, no quantity` };
}

function settle(reading: Reading<bigint>, field: string, column: number): bigint | Complaint {
  return "value" in reading ? reading.value : { column, reason: `${JSON.stringify(field.trim())} ${reading.reason}` };
}
