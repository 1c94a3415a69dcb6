/**
 * A night of made-up sales, as real as it need be: towns with their own clocks, currencies and cutoffs, a few restaurants
 * that sell much and many that sell little, refunds, and guests who stay past midnight. The business date of each sale
 * is known by construction, so what the totals must be is known without asking any of the code that computes them.
 */
import { type Random, seededRandom } from "./random.ts";

/** Restaurants that keep the same hours: one file of sales. */
export interface Town {
  readonly name: string;
  readonly timeZone: string;
  /** `HH:MM`: sales before it belong to the date before. */
  readonly cutoff: string;
  readonly currency: string;
  /** Digits of the currency's minor unit. */
  readonly digits: number;
}

export const towns: readonly Town[] = [
  { name: "london", timeZone: "Europe/London", cutoff: "04:00", currency: "GBP", digits: 2 },
  { name: "berlin", timeZone: "Europe/Berlin", cutoff: "03:00", currency: "EUR", digits: 2 },
  { name: "new-york", timeZone: "America/New_York", cutoff: "05:00", currency: "USD", digits: 2 },
  { name: "tokyo", timeZone: "Asia/Tokyo", cutoff: "02:30", currency: "JPY", digits: 0 },
  { name: "mumbai", timeZone: "Asia/Kolkata", cutoff: "00:00", currency: "INR", digits: 2 },
];

export interface SampleSale {
  readonly restaurant: string;
  /** Local wall time: on the business date, or on the next one before the cutoff. */
  readonly soldAt: Temporal.PlainDateTime;
  readonly amountMinor: bigint;
}

export interface SampleOptions {
  readonly restaurants: number;
  readonly businessDate: Temporal.PlainDate;
  readonly seed: string;
}

/** The restaurants of each town: `london-0007`. Together as many as asked for. */
export function restaurantsOf(town: Town, { restaurants }: SampleOptions): string[] {
  const numbers = Array.from({ length: restaurants }, (_, index) => index);
  const ours = numbers.filter((number) => number % towns.length === towns.indexOf(town));
  return ours.map((number) => `${town.name}-${String(number + 1).padStart(4, "0")}`);
}

/** The sales of a town's night, restaurant by restaurant. Made while they are read: a million need no memory. */
export function* salesOf(town: Town, options: SampleOptions): Generator<SampleSale> {
  for (const restaurant of restaurantsOf(town, options)) {
    const random = seededRandom(`${options.seed}/${restaurant}`);
    for (let left = saleCount(random); left > 0; left--) {
      yield { restaurant, soldAt: timeOfSale(town, options.businessDate, random), amountMinor: amount(town, random) };
    }
  }
}

/** One more sale for each of the restaurants, recorded when the night was already being run. */
export function lateSalesOf(town: Town, restaurants: readonly string[], options: SampleOptions): SampleSale[] {
  return restaurants.map((restaurant) => {
    const random = seededRandom(`${options.seed}/late/${restaurant}`);
    return { restaurant, soldAt: timeOfSale(town, options.businessDate, random), amountMinor: amount(town, random) };
  });
}

/** Log-normal: half of the restaurants sell less than 25 times, one in a hundred more than 130 times. */
function saleCount(random: Random): number {
  return Math.max(1, Math.min(400, Math.round(25 * Math.exp(0.7 * random.normal()))));
}

/** Most guests come around 19:30; nobody before 11:00, nobody at or after the cutoff. */
function timeOfSale(town: Town, businessDate: Temporal.PlainDate, random: Random): Temporal.PlainDateTime {
  const cutoff = Temporal.PlainTime.from(town.cutoff);
  const lastMinute = 24 * 60 + cutoff.hour * 60 + cutoff.minute - 1;
  const minute = Math.round(19.5 * 60 + 150 * random.normal());
  const minutes = Math.max(11 * 60, Math.min(lastMinute, minute));
  return businessDate.toPlainDateTime().add({ minutes });
}

/** Mostly a meal for two; one in fifty is a refund. */
function amount(town: Town, random: Random): bigint {
  const major = Math.max(1, 24 * Math.exp(0.5 * random.normal())) * (town.digits === 0 ? 150 : 1);
  const minor = BigInt(Math.round(major * 10 ** town.digits));
  return random.uniform() < 0.02 ? -minor : minor;
}
