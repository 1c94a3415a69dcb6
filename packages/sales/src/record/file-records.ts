/** What the records of a file are: whether they can be lines of it, are kept, whose they are, and what they say. */
import { ImportFault } from "../import-fault.ts";
import { type CsvRecord, splitLine } from "../read/csv-reader.ts";
import { isCurrency, isSameCurrency } from "../read/currency.ts";
import { findColumns, hasColumn } from "../read/header.ts";
import { notUtf8 } from "../read/not-utf8.ts";
import { remember } from "../read/remember.ts";
import { RowFilter } from "../read/row-filter.ts";
import { type NewRestaurant, type Restaurant, zoneOf } from "../restaurants/restaurant-store.ts";
import type { LineTarget, Load } from "./load-lines.ts";
import { LostQuotes } from "./lost-quotes.ts";

/** Why a record cannot be recorded. Undefined: it is wrong as a whole. */
export type Misfit = { readonly column: string | undefined; readonly reason: string };

/** A record that can be a line of this file. */
export type Line = { readonly isKept: boolean; readonly restaurantId: string | Misfit };

interface Setting {
  /** What messages call the file. */
  readonly file: string;
  readonly load: Load;
  readonly target: LineTarget;
  readonly delimiter: string;
}

const maxIdLength = 200;

export class FileRecords {
  readonly lostQuotes: LostQuotes | undefined;
  readonly #setting: Setting;
  readonly header: readonly string[];
  /** Columns that an option names, by their places. */
  readonly named: ReadonlySet<number>;
  readonly #filter: RowFilter;
  readonly #filterIndexes: readonly number[];
  readonly #indexes: readonly number[];
  readonly #restaurantIndex: number | undefined;
  readonly #currencyIndex: number | undefined;
  readonly #zoneIndex: number | undefined;
  /** Empty fields that each line has at its end and the header has not. */
  readonly #surplus: number;

  /** `first`: lines that follow the header, recorded before or not. Throws ImportFault `column_missing`, `column_ambiguous`, `file_unreadable`. */
  constructor(header: CsvRecord, first: readonly CsvRecord[], setting: Setting) {
    const { file, load, target, delimiter } = setting;
    const { columns, optionalColumns = [], amountColumns } = target;
    assertOneLine(header, file);
    const { currencyColumn, zoneColumn } = load.restaurants;
    const find = (wanted: readonly string[]): number[] => findColumns(header.fields, wanted, file);
    const findOne = (column: string | undefined): number | undefined =>
      column === undefined ? undefined : find([column])[0];
    const optional = optionalColumns.map((column) => (hasColumn(header.fields, column) ? find([column]) : [-1]));
    this.#setting = setting;
    this.header = header.fields.map((each) => each.trim());
    this.#restaurantIndex = findOne("column" in load.restaurant ? load.restaurant.column : undefined);
    this.#filter = load.filter ?? new RowFilter({});
    this.#filterIndexes = find(this.#filter.columns);
    this.#indexes = [...find(columns), ...optional.flat()];
    this.#currencyIndex = findOne(currencyColumn);
    this.#zoneIndex = findOne(zoneColumn);
    const others = [this.#restaurantIndex, this.#currencyIndex, this.#zoneIndex].map((at) => at ?? -1);
    this.named = new Set([...this.#indexes, ...this.#filterIndexes, ...others]);
    this.#surplus = surplusOf(first, header.fields.length);
    if (amountColumns !== undefined && delimiter === ",") {
      const places = find(amountColumns.map(({ name }) => name));
      const amounts = amountColumns.map(({ decimalComma }, index) => ({ at: places[index] ?? -1, decimalComma }));
      this.lostQuotes = new LostQuotes({ amounts, named: this.named.union(new Set([header.fields.length])) });
    }
  }

  /** Whether lines name their restaurant, or say what a new one is to be. */
  get nameRestaurants(): boolean {
    return [this.#restaurantIndex, this.#currencyIndex, this.#zoneIndex].some((at) => at !== undefined);
  }

  get restaurantColumn(): string | undefined {
    return this.#restaurantIndex === undefined ? undefined : this.header[this.#restaurantIndex];
  }

  /** Of the wanted columns, the name of one. */
  columnOf(wanted: number): string | undefined {
    return this.header[this.#indexes[wanted] ?? -1];
  }

  /** Of the wanted columns. */
  fieldsOf({ fields }: CsvRecord): string[] {
    return this.#indexes.map((index) => fields[index] ?? "");
  }

  lineOf(record: CsvRecord): Line | Misfit {
    const { broken, fields } = record;
    if (broken !== undefined) return { column: undefined, reason: broken };
    const misfit = this.#miscount(fields);
    // A line of totals may well have fewer fields.
    if (misfit !== undefined && !this.#excepts(fields)) return misfit;
    // What swallowed other lines is not left out: they would be, too.
    const swallowing = record.lastLine > record.line ? this.#swallowing(record) : undefined;
    if (swallowing !== undefined) return swallowing;
    return { isKept: misfit === undefined && this.#keeps(record), restaurantId: this.#idOf(record) };
  }

  /** What a new restaurant gets from the line. */
  settingsOf({ fields }: CsvRecord): NewRestaurant | Misfit {
    if (this.#zoneIndex === undefined && this.#currencyIndex === undefined) return nothingSaid;
    const settings: { zone?: string; currency?: string } = {};
    if (this.#zoneIndex !== undefined) {
      const zone = zoneOf((fields[this.#zoneIndex] ?? "").trim());
      if (zone === undefined) return this.#misfitIn(this.#zoneIndex, fields, "is no IANA time zone");
      settings.zone = zone;
    }
    if (this.#currencyIndex !== undefined) {
      const currency = (fields[this.#currencyIndex] ?? "").trim().toUpperCase();
      if (!isCurrency(currency)) return this.#misfitIn(this.#currencyIndex, fields, "is no ISO 4217 code");
      settings.currency = currency;
    }
    return settings;
  }

  /** What the line says of its restaurant that this is not. */
  disagreement(said: NewRestaurant, restaurant: Restaurant): Misfit | undefined {
    if (said === nothingSaid) return undefined;
    const { zone, currency } = said;
    const { id, clocks } = restaurant;
    if (currency !== undefined && !isSameCurrency(currency, restaurant.currency)) {
      const reason = `${JSON.stringify(currency)} is not the currency of ${JSON.stringify(id)}, which is ${restaurant.currency}; keep one with --only, and import the others for restaurants of their own`;
      return { column: this.header[this.#currencyIndex ?? -1], reason };
    }
    if (zone !== undefined && clocks.every((clock) => zoneOf(clock.zone) !== zone)) {
      const reason = `${JSON.stringify(zone)} is not the zone of ${JSON.stringify(id)}, which is ${clocks[0].zone}`;
      return { column: this.header[this.#zoneIndex ?? -1], reason };
    }
    return undefined;
  }

  #misfitIn(index: number, fields: readonly string[], reason: string): Misfit {
    return { column: this.header[index], reason: `${JSON.stringify((fields[index] ?? "").trim())} ${reason}` };
  }

  #keeps({ fields }: CsvRecord): boolean {
    return this.#filterIndexes.length === 0 || this.#filter.keeps(this.#filterIndexes.map((at) => fields[at] ?? ""));
  }

  #excepts(fields: readonly string[]): boolean {
    return this.#filter.excepts(this.#filterIndexes.map((at) => fields[at] ?? "\0"));
  }

  #miscount(fields: readonly string[]): Misfit | undefined {
    const expected = this.header.length;
    if (fields.length === expected + this.#surplus) {
      if (this.#surplus === 0 || areBlank(fields, expected)) return undefined;
      return { column: undefined, reason: `has ${fields.length} fields, the header has ${expected}` };
    }
    const others = this.#surplus === 0 ? "the header has" : "most lines have";
    const reason = `has ${fields.length} fields, ${others} ${expected + this.#surplus}`;
    return { column: this.header[fields.length], reason };
  }

  /** A quote that is not doubled makes one field of all lines up to the next quote. */
  #swallowing({ raw, line }: CsvRecord): Misfit | undefined {
    const { target, delimiter } = this.#setting;
    const { isRecord } = target;
    if (isRecord === undefined) return undefined;
    const swallowed = raw.split("\n").findIndex((text, index) => {
      const fields = index === 0 ? undefined : splitLine(text, delimiter);
      if (fields === undefined || this.#miscount(fields) !== undefined) return false;
      return isRecord(this.#indexes.map((at) => fields[at] ?? ""));
    });
    if (swallowed < 0) return undefined;
    const reason = `a quote that is not doubled makes one field of it and line ${line + swallowed}, which is a record`;
    return { column: undefined, reason };
  }

  #idOf({ fields }: CsvRecord): string | Misfit {
    const { restaurant } = this.#setting.load;
    if ("id" in restaurant) return restaurant.id;
    const { id, reason } = idOf(fields[this.#restaurantIndex ?? -1] ?? "");
    return reason === undefined ? id : { column: this.restaurantColumn, reason };
  }
}

/** Where there is a line feed anywhere, carriage returns end no line: what is one line then would have no sale in it. */
function assertOneLine({ raw }: CsvRecord, file: string): void {
  const unquoted = raw.replaceAll(/"[^"]*"/gu, "").replace(/\r+$/u, "");
  if (!unquoted.includes("\r")) return;
  const fact = "some of its lines end with carriage returns, others with line feeds; save it again as CSV";
  throw new ImportFault("file_unreadable", `${file}: ${fact}`, { details: { file } });
}

/**
 * Some tills end each line with one more delimiter, but each: where few do, a field was cut in two. Most lines decide it, not the first one,
 * which may be the one that is cut.
 */
function surplusOf(records: readonly CsvRecord[], expected: number): number {
  const counts = new Map<number, number>();
  for (const { broken, fields } of records) {
    const surplus = fields.length > expected && areBlank(fields, expected) ? fields.length - expected : 0;
    if (broken === undefined) counts.set(surplus, (counts.get(surplus) ?? 0) + 1);
  }
  const [[most] = [0]] = [...counts].toSorted(([less, one], [more, other]) => other - one || less - more);
  return most;
}

function areBlank(fields: readonly string[], from: number): boolean {
  return fields.slice(from).every((field) => field.trim() === "");
}

/** One object for all lines of a file that says nothing. */
const nothingSaid: NewRestaurant = {};

/** A restaurant's id as a field says it. Blanks around and inside it do not count, nor does the way an accent is written. */
const idOf: (text: string) => { readonly id: string; readonly reason: string | undefined } = remember((text) => {
  const id = text.normalize("NFC").trim().replaceAll(/\s+/gu, " ");
  return { id, reason: misnomer(id) };
});

/** Why a text cannot be a restaurant's id. */
function misnomer(id: string): string | undefined {
  if (id === "") return "is empty";
  if (id.length > maxIdLength) return `is longer than ${maxIdLength} characters`;
  if (id.includes("\0")) return "has a NUL in it";
  if (id.includes("\uFFFD")) return notUtf8;
  return undefined;
}
