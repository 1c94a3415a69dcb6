/**
 * The restaurants of a file: looked up once each, made when they are not known.
 *
 * What is stored about a restaurant holds. An import may repeat its zone, cutoff and currency, or leave them out; one
 * that says something else is refused, since amounts and dates would be read wrongly, now or in the sales of before.
 */
import { type Database, type Session, SqlFault } from "@nightwriter/database";
import { sql } from "kysely";
import { ImportFault } from "../import-fault.ts";
import { dayOf } from "../read/business-date.ts";
import { currencyDigits } from "../read/currency.ts";
import { detached, remember } from "../read/remember.ts";
import type { SalesSchema } from "../schema.ts";
import type { Clocks } from "./clock.ts";

/** What must be known of a restaurant to read its lines. */
export interface Restaurant {
  readonly id: string;
  /** The id as COPY's text format writes it. */
  readonly copyId: string;
  readonly clocks: Clocks;
  readonly currency: string;
  /** The decimals of the currency. */
  readonly digits: number;
  /** The business date of its opening total, which has everything up to then. Undefined: it has none. */
  readonly openedOn: string | undefined;
  /** Sales of this business date and later are refused. Undefined: it is open. */
  readonly closedSince: string | undefined;
}

/** What a new restaurant gets, and what a known one must have, as far as it is said. */
export interface RestaurantOptions {
  /** IANA time zone. */
  readonly zone?: string;
  /** HH:MM on the wall clock. Default for a new restaurant: 00:00. */
  readonly cutoff?: string;
  /** ISO 4217. */
  readonly currency?: string;
  /** The columns that say these instead, line by line. Default: none does. */
  readonly zoneColumn?: string;
  readonly currencyColumn?: string;
  /** Whether restaurants that are not known are made. Default: true. */
  readonly create?: boolean;
}

/** What a line says of its restaurant. */
export type NewRestaurant = Pick<RestaurantOptions, "zone" | "currency">;

/** Restaurants remembered at a time: enough for any chain, bounded for any file. */
const maxRemembered = 50_000;

export class Restaurants {
  readonly #database: Database;
  readonly #session: Session;
  readonly #options: RestaurantOptions;
  readonly #known = new Map<string, Restaurant | undefined>();
  /** Looked for, but not to be made. */
  readonly #absent = new Set<string>();
  #created = 0;

  constructor(database: Database, session: Session, options: RestaurantOptions) {
    this.#database = database;
    this.#session = session;
    const { zone, currency, ...others } = checkRestaurantOptions(options);
    // What a column says is compared line by line.
    this.#options = {
      ...others,
      ...(zone !== undefined && options.zoneColumn === undefined && { zone }),
      ...(currency !== undefined && options.currencyColumn === undefined && { currency }),
    };
  }

  /** How many were made. */
  get created(): number {
    return this.#created;
  }

  /** Whether {@link load} has looked for it. */
  has(id: string): boolean {
    return this.#known.has(id);
  }

  /** Whether {@link load} or {@link look} has looked for it. */
  hasLooked(id: string): boolean {
    return this.#known.has(id) || this.#absent.has(id);
  }

  /** Undefined: there is none, and none is to be made. */
  find(id: string): Restaurant | undefined {
    return this.#known.get(id);
  }

  /**
   * After it returns, {@link find} knows these. Makes what is missing, each as its line or else the options say, unless `pretend`: then it only
   * answers as if.
   */
  async load(
    settings: ReadonlyMap<string, NewRestaurant>,
    { pretend = false }: { pretend?: boolean } = {},
  ): Promise<void> {
    if (this.#known.size + settings.size > maxRemembered) this.#known.clear();
    const wanted = [...settings.keys()].map(detached).toSorted();
    await this.#select(wanted);
    const missing = wanted.filter((id) => !this.#known.has(id));
    if (missing.length === 0) return;
    if (this.#options.create === false) {
      for (const id of missing) this.#known.set(id, undefined);
      return;
    }
    const rows = missing.map((id) => this.#rowOf(id, settings.get(id) ?? {}));
    if (pretend) for (const row of rows) this.#remember(row);
    else await this.#create(rows);
  }

  #rowOf(id: string, said: NewRestaurant): RestaurantRow {
    const { zone = this.#options.zone, currency = this.#options.currency } = said;
    const { cutoff = "00:00" } = this.#options;
    if (zone === undefined || currency === undefined) throw settingsMissing(id, { zone, currency });
    return { id, time_zone: zone, cutoff, currency };
  }

  /** As {@link load}, but nothing is made. */
  async look(ids: readonly string[]): Promise<void> {
    if (this.#absent.size + ids.length > maxRemembered) this.#absent.clear();
    const wanted = ids.map(detached).toSorted();
    await this.#select(wanted);
    for (const id of wanted) if (!this.#known.has(id)) this.#absent.add(id);
  }

  async #create(rows: readonly RestaurantRow[]): Promise<void> {
    const made = await this.#insert(rows).catch((error: unknown) => {
      throw unknownToServer(error, rows[0]?.time_zone ?? "");
    });
    this.#created += made.length;
    // Once more: whoever made one of them in between may have said something else.
    await this.#select(rows.map(({ id }) => id));
  }

  async #insert(rows: readonly RestaurantRow[]): Promise<object[]> {
    const column = (name: "id" | "time_zone" | "cutoff" | "currency"): string[] => rows.map((row) => row[name]);
    return this.#session.query(
      `insert into sales.restaurant (id, name, time_zone, cutoff, currency)
       select id, id, zone, cutoff::time, currency from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as it(id, zone, cutoff, currency)
       on conflict (id) do nothing returning id`,
      [column("id"), column("time_zone"), column("cutoff"), column("currency")],
    );
  }

  async #select(ids: readonly string[]): Promise<void> {
    const { rows } = await this.#session.run(
      this.#database.db
        .withTables<SalesSchema>()
        .selectFrom("sales.restaurant as restaurant")
        .leftJoin("sales.opening_total as opening", "opening.restaurant_id", "restaurant.id")
        .select(["id", "time_zone", "cutoff", "currency", "closed_since", "opening.business_date as opened_on"])
        .select(laterClocks.as("later_clocks"))
        .where("id", "=", sql<string>`any(${ids}::text[])`)
        .compile(),
    );
    for (const row of rows) {
      assertSame(row, this.#options);
      this.#remember(row);
    }
  }

  #remember(row: RestaurantRow): void {
    const { id, currency, opened_on, closed_since } = row;
    const copyId = escapeForCopy(id);
    const digits = currencyDigits(currency);
    const dates = { openedOn: opened_on ?? undefined, closedSince: closed_since ?? undefined };
    this.#known.set(id, { id, copyId, clocks: clocksOf(row), currency, digits, ...dates });
  }
}

/** The newest first. */
const laterClocks = sql<LaterClock[] | null>`(
  select jsonb_agg(jsonb_build_object('from', from_date, 'time_zone', clock.time_zone, 'cutoff', clock.cutoff) order by from_date desc)
  from sales.restaurant_clock as clock where clock.restaurant_id = restaurant.id)`;

type LaterClock = { readonly from: string; readonly time_zone: string; readonly cutoff: string };

function clocksOf(row: RestaurantRow): Clocks {
  const [newest, ...others] = (row.later_clocks ?? []).map((later) => ({
    ...clockOf(later),
    fromDay: dayOf(later.from),
  }));
  const first = { ...clockOf(row), fromDay: Number.NEGATIVE_INFINITY };
  return newest === undefined ? [first] : [newest, ...others, first];
}

function clockOf({ time_zone: zone, cutoff }: { time_zone: string; cutoff: string }): {
  zone: string;
  cutoffMs: number;
} {
  return { zone, cutoffMs: cutoffMs(cutoff) };
}

type RestaurantRow = {
  readonly id: string;
  readonly time_zone: string;
  readonly cutoff: string;
  readonly currency: string;
  readonly opened_on?: string | null;
  readonly closed_since?: string | null;
  readonly later_clocks?: readonly LaterClock[] | null;
};

/** Text as COPY's text format writes it. */
function escapeForCopy(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
}

function cutoffMs(cutoff: string): number {
  const midnight = Temporal.PlainTime.from("00:00");
  return midnight.until(Temporal.PlainTime.from(cutoff)).total("milliseconds");
}

/** Returns the options, with the zone as IANA spells it. Throws ImportFault `zone_unknown`, `cutoff_invalid` or `currency_unknown`. */
export function checkRestaurantOptions(options: RestaurantOptions): RestaurantOptions {
  const { zone, cutoff, currency } = options;
  if (cutoff !== undefined && !/^(?:[01]\d|2[0-3]):[0-5]\d$/u.test(cutoff)) {
    throw new ImportFault("cutoff_invalid", `cutoff ${cutoff}: is no time of day; write it like 04:00`, {
      details: { cutoff },
    });
  }
  if (currency !== undefined) currencyDigits(currency);
  return zone === undefined ? options : { ...options, zone: canonicalZone(zone) };
}

/** A zone as IANA spells it; undefined: there is none of this name. */
export const zoneOf: (zone: string) => string | undefined = remember((zone) => {
  try {
    return /^[A-Za-z]/u.test(zone) ? new Temporal.ZonedDateTime(0n, zone).timeZoneId : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
});

function canonicalZone(zone: string): string {
  const found = zoneOf(zone);
  if (found !== undefined) return found;
  throw new ImportFault("zone_unknown", `zone ${zone}: is no IANA time zone; name one like Europe/London`, {
    details: { zone },
  });
}

const invalidParameter = "22023";

/** Node and the server each bring a list of zones, and one of them may be the older. */
function unknownToServer(error: unknown, zone: string): unknown {
  if (!(error instanceof SqlFault) || error.sqlstate !== invalidParameter) return error;
  return new ImportFault("zone_unknown", `zone ${zone}: is not known to the server; update its time zones`, {
    details: { zone },
    cause: error,
  });
}

function assertSame(row: RestaurantRow, { zone, cutoff, currency }: RestaurantOptions): void {
  const differs = (setting: string, stored: string, said: string): ImportFault =>
    new ImportFault(
      "restaurant_differs",
      `restaurant ${row.id}: its ${setting} is ${stored}, not ${said}; leave --${setting} out, or import its lines on their own`,
      { details: { restaurant: row.id, setting, stored, said } },
    );
  if (currency !== undefined && currency !== row.currency) throw differs("currency", row.currency, currency);
  // Any of its clocks: who imports day by day goes on saying what held before until somebody changes that, too.
  const clocks = [row, ...(row.later_clocks ?? [])];
  if (cutoff !== undefined && clocks.every((clock) => cutoffMs(cutoff) !== cutoffMs(clock.cutoff))) {
    throw differs("cutoff", row.cutoff.slice(0, 5), cutoff);
  }
  if (zone !== undefined && clocks.every((clock) => !isSameZone(zone, canonicalZone(clock.time_zone)))) {
    throw differs("zone", row.time_zone, zone);
  }
}

function isSameZone(one: string, other: string): boolean {
  return new Temporal.ZonedDateTime(0n, one).equals(new Temporal.ZonedDateTime(0n, other));
}

function settingsMissing(
  id: string,
  { zone, currency }: { zone: string | undefined; currency: string | undefined },
): ImportFault {
  const unsaid = [zone === undefined && "--zone", currency === undefined && "--currency"].filter(Boolean).join(" and ");
  return new ImportFault("settings_missing", `restaurant ${id}: is not known; to make it, say its ${unsaid}`, {
    details: { restaurant: id },
  });
}
