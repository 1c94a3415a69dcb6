/** When a sale was: out of a column, of one with the date and one with the time, or the same for the whole file. */
import { compileDateFormat, type DateFormat } from "./date-format.ts";

export type DateColumns =
  | {
      readonly column: string;
      /** Unicode tokens, dd/MM/yyyy HH:mm; of the date, a blank and the time if they have columns of their own. */
      readonly format: string;
      readonly timeColumn?: string;
    }
  | { readonly on: Temporal.PlainDate };

export interface SaleDate {
  /** Which columns it needs. */
  readonly columns: readonly string[];
  readonly format: DateFormat;
  /** What these fields say, as the format is to read it. */
  textOf(fields: readonly string[]): string;
}

/** Throws ImportFault `date_format_invalid`. */
export function compileSaleDate(date: DateColumns): SaleDate {
  if ("on" in date) {
    const text = date.on.toString();
    return { columns: [], format: compileDateFormat("yyyy-MM-dd"), textOf: () => text };
  }
  const { column, format: text, timeColumn } = date;
  const format = compileDateFormat(text);
  if (timeColumn === undefined) return { columns: [column], format, textOf: ([field = ""]) => field };
  return {
    columns: [column, timeColumn],
    format,
    textOf: ([day = "", time = ""]) => `${day.trim()} ${time.trim()}`,
  };
}
