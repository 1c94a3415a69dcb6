/** How a file is read: those of the options that decide which sales its lines are. The same bytes, read in another way, are other sales. */
import { isDeepStrictEqual } from "node:util";
import type { AmountColumns } from "../read/amount.ts";
import { type ColumnValue, plainColumn as plain, plainValue } from "../read/row-filter.ts";
import type { DateColumns } from "../read/sale-date.ts";
import type { ImportOptions } from "./import-options.ts";

/** By option of the command line, as it was given there. What was left out, or is what it is without, is not in it. */
export type Reading = Readonly<Record<string, unknown>>;

type Given = { readonly [Name in keyof ImportOptions]-?: NonNullable<ImportOptions[Name]> };

/** Of each option, what it says about the reading; `nothing` of those that do not: whose sales they are has a column of its own. */
const sayings: { readonly [Name in keyof Given]: (value: Given[Name]) => Reading } = {
  restaurant: (choice) => ("column" in choice ? { "--restaurant-column": plain(choice.column) } : {}),
  date: dateReading,
  amount: amountReading,
  idColumns: (columns) => (columns.length === 0 ? {} : { "--id-column": columns.map(plain) }),
  only: (values) => filterReading("--only", values),
  except: (values) => filterReading("--except", values),
  titleLines: (count) => (count === 0 ? {} : { "--skip-lines": count }),
  delimiter: (delimiter) => (delimiter === "," ? {} : { "--delimiter": delimiter }),
  encoding: (encoding) => (encoding === "utf-8" ? {} : { "--encoding": encoding }),
  decimalComma: commaReading,
  zoneColumn: (column) => ({ "--zone-column": plain(column) }),
  currencyColumn: (column) => ({ "--currency-column": plain(column) }),
  file: nothing,
  signal: nothing,
  feed: nothing,
  zone: nothing,
  cutoff: nothing,
  currency: nothing,
  create: nothing,
  skipBad: nothing,
  accept: nothing,
  dryRun: nothing,
  given: nothing,
  actor: nothing,
  maxBadLines: nothing,
  onProgress: nothing,
};

export function readingOf(options: ImportOptions): Reading {
  const all = Object.entries(sayings).map(([name, say]) => {
    const value = options[name as keyof ImportOptions];
    return value === undefined ? {} : (say as (value: unknown) => Reading)(value);
  });
  return Object.assign({}, ...all) as Reading;
}

/** What makes the ids of its sales: nothing, if they have none. */
export function idColumnsOf(reading: Reading | null): readonly string[] {
  return (reading?.["--id-column"] as readonly string[] | undefined) ?? [];
}

export function titleLinesOf(reading: Reading | null): number {
  return (reading?.["--skip-lines"] as number | undefined) ?? 0;
}

/** Whether both make the same sales of a line. Undefined: it was not noted, and is taken for the same. */
export function isSameReading(one: Reading | undefined, other: Reading): boolean {
  return one === undefined || isDeepStrictEqual(one, other);
}

/** `--amount-column "net" then, "total" now; --decimal-comma then, not now`. */
export function describeDifferences(then: Reading, now: Reading): string {
  const options = [...new Set([...Object.keys(then), ...Object.keys(now)])].toSorted();
  const differing = options.filter((option) => !isDeepStrictEqual(then[option], now[option]));
  return differing
    .map((option) => {
      if (then[option] === undefined) return `not ${option} then, ${said(option, now[option])} now`;
      if (now[option] === undefined) return `${said(option, then[option])} then, not now`;
      return `${said(option, then[option])} then, ${text(now[option])} now`;
    })
    .join("; ");
}

function said(option: string, value: unknown): string {
  return value === true ? option : `${option} ${text(value)}`;
}

function text(value: unknown): string {
  return Array.isArray(value) ? value.map((each) => JSON.stringify(each)).join(" and ") : JSON.stringify(value);
}

function amountReading(columns: AmountColumns): Reading {
  if ("column" in columns) return { "--amount-column": plain(columns.column) };
  return { "--quantity-column": plain(columns.quantityColumn), "--price-column": plain(columns.priceColumn) };
}

function dateReading(date: DateColumns): Reading {
  if ("on" in date) return { "--date": date.on.toString() };
  const { column, format, timeColumn } = date;
  const reading = { "--date-column": plain(column), "--date-format": format };
  return timeColumn === undefined ? reading : { ...reading, "--time-column": plain(timeColumn) };
}

function commaReading(comma: boolean | readonly string[]): Reading {
  if (comma === true) return { "--decimal-comma": true };
  return comma === false || comma.length === 0 ? {} : { "--decimal-comma-column": comma.map(plain).toSorted() };
}

/** In any order: several values of a column are alternatives. */
function filterReading(option: string, values: readonly ColumnValue[]): Reading {
  if (values.length === 0) return {};
  return { [option]: values.map(({ column, value }) => `${plain(column)}=${plainValue(value)}`).toSorted() };
}

function nothing(): Reading {
  return {};
}
