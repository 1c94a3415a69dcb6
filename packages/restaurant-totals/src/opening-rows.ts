/** Lines of a file of opening totals as rows of the staging table. */
import {
  type AmountReader,
  type Complaint,
  compileAmount,
  compileDateFormat,
  type DateFormat,
  isoDateOf,
  type LineTarget,
  type Restaurant,
} from "@nightwriter/sales";
import type { OpenOptions } from "./open-totals.ts";

export class OpeningRows implements LineTarget {
  readonly copy = "copy opening (key, line, amount_minor, business_date) from stdin";
  readonly columns: readonly string[];
  readonly optionalColumns: readonly string[];
  readonly #amount: AmountReader;
  readonly #format: DateFormat;

  constructor({ totalColumn = "total", dateColumn, dateFormat = "yyyy-MM-dd", decimalComma = false }: OpenOptions) {
    this.#amount = compileAmount({ column: totalColumn }, { decimalComma });
    this.#format = compileDateFormat(dateFormat);
    this.columns = [...this.#amount.columns, ...(dateColumn === undefined ? [] : [dateColumn])];
    this.optionalColumns = dateColumn === undefined ? ["date"] : [];
  }

  encode([total = "", date = ""]: readonly string[], restaurant: Restaurant, line: number): string | Complaint {
    const amountMinor = this.#amount.read([total], restaurant);
    if (typeof amountMinor !== "bigint") return amountMinor;
    const businessDate = this.#dateOf(date);
    if (businessDate === undefined) {
      return { column: 1, reason: `${JSON.stringify(date.trim().slice(0, 40))} is no date as ${this.#format.text}` };
    }
    return `${restaurant.copyId}\t${line}\t${amountMinor}\t${businessDate}\n`;
  }

  /** COPY's null for an empty field: the date is found later, when the restaurant's first sale is known. */
  #dateOf(text: string): string | undefined {
    if (text.trim() === "") return String.raw`\N`;
    const ms = this.#format.read(text);
    return ms === undefined ? undefined : isoDateOf(Math.floor(ms / 86_400_000));
  }
}
