/** Lines of a file as rows for COPY, and what they come to. */
import type { Acceptance } from "../acceptances.ts";
import { type AmountColumns, type AmountReader, compileAmount, hasDecimalComma } from "../read/amount.ts";
import { businessDay, isoDateOf, wallMsOf } from "../read/business-date.ts";
import type { DateFormat } from "../read/date-format.ts";
import { notUtf8 } from "../read/not-utf8.ts";
import type { SaleDate } from "../read/sale-date.ts";
import { dayBy } from "../restaurants/clock.ts";
import type { Restaurant } from "../restaurants/restaurant-store.ts";
import type { Suspicions } from "../suspicions/suspicions.ts";
import type { ReadLine } from "./import-options.ts";
import type { AmountColumn, Complaint, LineTarget } from "./load-lines.ts";
import { saleHash } from "./sale-hash.ts";

/** Where the rows go, and how their dates are written. */
type Setting = {
  readonly source: string;
  readonly epoch: number;
  readonly date: SaleDate;
  /** Into the temporary table that lines are compared in first, instead of straight into sales.sale. */
  readonly isStaged: boolean;
  readonly suspicions: Suspicions;
};
type Columns = {
  readonly amount: AmountColumns;
  readonly idColumns?: readonly string[];
  readonly feed?: string;
  readonly decimalComma?: boolean | readonly string[];
  readonly accept?: ReadonlySet<Acceptance>;
};

/** A sale as its line says it. */
type Sale = { readonly day: number; readonly wallMs: number; readonly amountMinor: bigint; readonly hash: string };

/** The epoch is asked for once: its default would ask for every row. */
const straight =
  "copy sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch, local_time) from stdin";
const staged =
  "copy pg_temp.staged (restaurant_id, business_date, line, amount_minor, local_time, hash, is_kept) from stdin";

/** Null, as COPY's text format writes it. */
const nothing = String.raw`\N`;
const dayMs = 86_400_000;
/** Lines that are kept as they were read. */
const firstLines = 20;

export class SaleRows implements LineTarget {
  readonly copy: string;
  readonly columns: readonly string[];
  readonly amountColumns: readonly AmountColumn[];
  readonly #setting: Setting;
  readonly #format: DateFormat;
  readonly #amount: AmountReader;
  /** Fields before this one are of the date. */
  readonly #amountAt: number;
  /** Fields before this one are of the amount, the others of the id. */
  readonly #idAt: number;
  readonly #hasIds: boolean;
  readonly #feed: string;
  readonly #allowBeforeOpening: boolean;
  readonly #sums = new Map<string, bigint>();
  /** Days since 1970 as text, and those of them that are business dates of rows. */
  readonly #texts = new Map<number, string>();
  readonly #dates = new Set<string>();
  readonly #first: ReadLine[] = [];
  #newestMs = Number.NEGATIVE_INFINITY;

  constructor({ amount, idColumns = [], feed = "", decimalComma = false, accept }: Columns, setting: Setting) {
    this.copy = setting.isStaged ? staged : straight;
    this.#amount = compileAmount(amount, { decimalComma });
    this.amountColumns = this.#amount.columns.map((name) => ({
      name,
      decimalComma: hasDecimalComma({ decimalComma }, name),
    }));
    const { columns, format } = setting.date;
    this.columns = [...columns, ...this.#amount.columns, ...idColumns];
    this.#format = format;
    this.#amountAt = columns.length;
    this.#idAt = this.#amountAt + this.#amount.columns.length;
    this.#hasIds = idColumns.length > 0;
    this.#feed = feed;
    this.#allowBeforeOpening = accept?.has("before-opening") === true;
    this.#setting = setting;
  }

  encode(fields: readonly string[], restaurant: Restaurant, line: number): string | Complaint {
    const sale = this.#read(fields, restaurant);
    if ("reason" in sale) return sale;
    const { openedOn } = restaurant;
    const businessDate = this.#textOf(sale.day);
    // Dates of four digits each: their texts are in the order of the days.
    if (openedOn !== undefined && !this.#allowBeforeOpening && businessDate <= openedOn) {
      return { column: 0, reason: beforeOpening(businessDate, openedOn) };
    }
    if (restaurant.closedSince !== undefined && businessDate >= restaurant.closedSince) {
      return { column: 0, reason: afterClosing(businessDate, restaurant) };
    }
    this.#sums.set(restaurant.currency, (this.#sums.get(restaurant.currency) ?? 0n) + sale.amountMinor);
    this.#newestMs = Math.max(this.#newestMs, sale.wallMs);
    const { day, wallMs, amountMinor } = sale;
    this.#setting.suspicions.take({ line, restaurant: restaurant.id, day, wallMs, amountMinor }, restaurant);
    if (this.#first.length < firstLines) this.#first.push(this.#readLine(sale, restaurant, line));
    return this.#row(sale, restaurant, line);
  }

  #readLine({ day, wallMs, amountMinor }: Sale, { id, currency }: Restaurant, line: number): ReadLine {
    const localTime = this.#format.hasTime ? this.#timeOf(wallMs) : undefined;
    return { line, restaurant: id, businessDate: this.#textOf(day), localTime, amountMinor, currency };
  }

  /** A line without an id that was known before has nothing to say, nor has any where sales have none. */
  leaveOut(fields: readonly string[], restaurant: Restaurant, line: number): string {
    const hash = this.#hasIds ? this.#hashOf(fields, restaurant) : undefined;
    if (hash === undefined || this.#lostIn(fields) >= 0) return "";
    const ms = this.#format.read(this.#setting.date.textOf(fields));
    const amount = this.#amount.read(fields.slice(this.#amountAt, this.#idAt), restaurant);
    const amountText = typeof amount === "bigint" ? String(amount) : nothing;
    if (ms === undefined) return `${restaurant.copyId}\t${nothing}\t${line}\t${nothing}\t${nothing}\t${hash}\tf\n`;
    const wallMs = this.#wallMsOf(ms, restaurant);
    this.#newestMs = Math.max(this.#newestMs, wallMs);
    const time = this.#format.hasTime ? this.#timeOf(wallMs) : nothing;
    const date = this.#textOf(this.#dayOf(ms, restaurant));
    return `${restaurant.copyId}\t${date}\t${line}\t${amountText}\t${time}\t${hash}\tf\n`;
  }

  /** Some of the lines, as they were read. */
  get first(): readonly ReadLine[] {
    return this.#first;
  }

  /** Has a date and something in each column of the amount. */
  readonly isRecord = (fields: readonly string[]): boolean =>
    this.#format.read(this.#setting.date.textOf(fields)) !== undefined &&
    fields.slice(this.#amountAt, this.#idAt).every((field) => /\d/u.test(field));

  /** By currency, of all lines that were kept. */
  get sums(): ReadonlyMap<string, bigint> {
    return this.#sums;
  }

  /** In order. */
  get businessDates(): Temporal.PlainDate[] {
    return [...this.#dates].toSorted().map((date) => Temporal.PlainDate.from(date));
  }

  /** The latest wall time of the lines, those that were left out too, or the latest date at 00:00; as text. */
  get newest(): string | undefined {
    if (this.#newestMs === Number.NEGATIVE_INFINITY) return undefined;
    return new Date(this.#newestMs).toISOString().slice(0, 23).replace("T", " ");
  }

  #read(fields: readonly string[], restaurant: Restaurant): Sale | Complaint {
    const text = this.#setting.date.textOf(fields);
    const ms = this.#format.read(text);
    if (ms === undefined) return { column: 0, reason: notADate(text, this.#format) };
    const amountMinor = this.#amount.read(fields.slice(this.#amountAt, this.#idAt), restaurant);
    if (typeof amountMinor !== "bigint") return { ...amountMinor, column: amountMinor.column + this.#amountAt };
    const hash = this.#hashOf(fields, restaurant);
    if (hash === undefined) return { column: this.#idAt, reason: "is empty, and is the sale's id" };
    const lost = this.#lostIn(fields);
    if (lost >= 0) return { column: lost, reason: notUtf8 };
    const day = this.#dayOf(ms, restaurant);
    return { day, wallMs: this.#wallMsOf(ms, restaurant), amountMinor, hash };
  }

  #wallMsOf(ms: number, { clocks }: Restaurant): number {
    return this.#format.isInstant ? wallMsOf(ms, clocks[0].zone) : ms;
  }

  /** Null in COPY's text: the file has no ids. Undefined: the line has none. */
  #hashOf(fields: readonly string[], { id: restaurantId }: Restaurant): string | undefined {
    if (!this.#hasIds) return nothing;
    return saleHash({ restaurantId, feed: this.#feed }, fields.slice(this.#idAt));
  }

  /** Where a part of the id has lost characters, by which it may be that of another sale; below zero: nowhere. */
  #lostIn(fields: readonly string[]): number {
    if (!this.#hasIds) return -1;
    return fields.findIndex((field, index) => index >= this.#idAt && field.includes("\uFFFD"));
  }

  #row({ day, wallMs, amountMinor, hash }: Sale, { copyId }: Restaurant, line: number): string {
    const { source, epoch, isStaged } = this.#setting;
    const date = this.#textOf(day);
    this.#dates.add(date);
    const time = this.#format.hasTime ? this.#timeOf(wallMs) : nothing;
    if (isStaged) return `${copyId}\t${date}\t${line}\t${amountMinor}\t${time}\t${hash}\tt\n`;
    return `${copyId}\t${date}\t${source}\t${line}\t${amountMinor}\t${epoch}\t${time}\n`;
  }

  #dayOf(ms: number, { clocks }: Restaurant): number {
    if (!this.#format.hasTime) return businessDay(ms, 0);
    return dayBy(clocks, ms, this.#format.isInstant);
  }

  #timeOf(wallMs: number): string {
    const wallDay = Math.floor(wallMs / dayMs);
    return `${this.#textOf(wallDay)} ${clockText(wallMs - wallDay * dayMs)}`;
  }

  #textOf(day: number): string {
    const known = this.#texts.get(day);
    if (known !== undefined) return known;
    const text = isoDateOf(day);
    this.#texts.set(day, text);
    return text;
  }
}

function clockText(ms: number): string {
  const two = (value: number): string => (value < 10 ? `0${value}` : String(value));
  const minutes = Math.floor(ms / 60_000);
  const rest = ms - minutes * 60_000;
  const text = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return rest === 0 ? text : `${text}:${two(Math.floor(rest / 1_000))}.${String(rest % 1_000).padStart(3, "0")}`;
}

function notADate(text: string, { text: format }: DateFormat): string {
  const trimmed = text.trim();
  if (trimmed === "") return "is empty";
  return `${JSON.stringify(trimmed.slice(0, 40))} is no date as ${format}, between 1900 and 2199${epochHint(format, trimmed)}`;
}

function epochHint(format: string, text: string): string {
  if (format === "T" && /^\d{9,10}$/u.test(text)) return " (it would be in 1970; seconds are t)";
  return format === "t" && /^\d{12,13}$/u.test(text) ? " (milliseconds are T)" : "";
}

function afterClosing(businessDate: string, { id, closedSince = "" }: Restaurant): string {
  return `${businessDate} is not before ${closedSince}, since when ${JSON.stringify(id)} is closed; nightwriter restaurants reopen takes that back`;
}

function beforeOpening(businessDate: string, openedOn: string): string {
  return `${businessDate} is not after ${openedOn}, and the opening total of that date has all until then; say --before-opening to add it all the same`;
}
