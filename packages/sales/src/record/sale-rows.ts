/** Lines of a file as rows of sales.sale, and what they come to. */

import type { Acceptance } from "../doubt.ts";
import { type AmountColumns, type AmountReader, compileAmount } from "../read/amount.ts";
import { businessDay, isoDateOf } from "../read/business-date.ts";
import type { DateFormat } from "../read/date-format.ts";
import { dayBy } from "../restaurants/clock.ts";
import type { Restaurant } from "../restaurants/restaurant-store.ts";
import type { Complaint, LineTarget } from "./load-lines.ts";

/** Where the rows go, and how their dates are written. */
type Setting = { readonly source: string; readonly epoch: number; readonly format: DateFormat };
type Columns = {
  readonly date: { readonly column: string };
  readonly amount: AmountColumns;
  readonly decimalComma?: boolean;
  readonly accept?: ReadonlySet<Acceptance>;
};

export class SaleRows implements LineTarget {
  /** The epoch is asked for once: its default would ask for every row. */
  readonly copy = "copy sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch) from stdin";
  readonly columns: readonly string[];
  readonly #format: DateFormat;
  readonly #amount: AmountReader;
  readonly #source: string;
  readonly #epoch: number;
  readonly #allowBeforeOpening: boolean;
  readonly #sums = new Map<string, bigint>();
  /** Business days since 1970, each as text. */
  readonly #dates = new Map<number, string>();

  constructor({ date, amount, decimalComma = false, accept }: Columns, { source, epoch, format }: Setting) {
    this.#amount = compileAmount(amount, { decimalComma });
    this.columns = [date.column, ...this.#amount.columns];
    this.#format = format;
    this.#allowBeforeOpening = accept?.has("before-opening") ?? false;
    this.#source = source;
    this.#epoch = epoch;
  }

  encode([date = "", ...amounts]: readonly string[], restaurant: Restaurant, line: number): string | Complaint {
    const ms = this.#format.read(date);
    if (ms === undefined) return { column: 0, reason: notADate(date, this.#format) };
    const amountMinor = this.#amount.read(amounts, restaurant);
    if (typeof amountMinor !== "bigint") return { ...amountMinor, column: amountMinor.column + 1 };
    const day = this.#dayOf(ms, restaurant);
    const { openedOn } = restaurant;
    // Dates of four digits each: their texts are in the order of the days.
    if (openedOn !== undefined && !this.#allowBeforeOpening && isoDateOf(day) <= openedOn) {
      return { column: 0, reason: beforeOpening(isoDateOf(day), openedOn) };
    }
    if (restaurant.closedSince !== undefined && isoDateOf(day) >= restaurant.closedSince) {
      return { column: 0, reason: afterClosing(isoDateOf(day), restaurant) };
    }
    this.#sums.set(restaurant.currency, (this.#sums.get(restaurant.currency) ?? 0n) + amountMinor);
    const businessDate = this.#dateOf(day);
    return `${restaurant.copyId}\t${businessDate}\t${this.#source}\t${line}\t${amountMinor}\t${this.#epoch}\n`;
  }

  /** By currency. */
  get sums(): ReadonlyMap<string, bigint> {
    return this.#sums;
  }

  /** In order. */
  get businessDates(): Temporal.PlainDate[] {
    return [...this.#dates.values()].toSorted().map((date) => Temporal.PlainDate.from(date));
  }

  #dayOf(ms: number, { clocks }: Restaurant): number {
    if (!this.#format.hasTime) return businessDay(ms, 0);
    return dayBy(clocks, ms, this.#format.isInstant);
  }

  #dateOf(day: number): string {
    const known = this.#dates.get(day);
    if (known !== undefined) return known;
    const date = isoDateOf(day);
    this.#dates.set(day, date);
    return date;
  }
}

function notADate(text: string, { text: format }: DateFormat): string {
  const trimmed = text.trim();
  if (trimmed === "") return "is empty";
  return `${JSON.stringify(trimmed.slice(0, 40))} is no date as ${format}, between 1900 and 2199`;
}

function afterClosing(businessDate: string, { id, closedSince = "" }: Restaurant): string {
  return `${businessDate} is not before ${closedSince}, since when ${JSON.stringify(id)} is closed; nightwriter restaurants reopen takes that back`;
}

function beforeOpening(businessDate: string, openedOn: string): string {
  return `${businessDate} is not after ${openedOn}, and the opening total of that date has all until then; say --before-opening to add it all the same`;
}
