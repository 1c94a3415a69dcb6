import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { formatMinor } from "../output/money.ts";
import type { SampleSale, Town } from "./sample-night.ts";

/** How the columns of a sample file are called and written, in the words of `nightwriter import`. */
export const sampleFormat = {
  restaurantColumn: "Restaurant",
  dateColumn: "Sold at",
  dateFormat: "dd/MM/yyyy HH:mm",
  amountColumn: "Amount",
} as const;

/** Writes sales as a till would export them. */
export async function writeSampleFile(file: string, town: Town, sales: Iterable<SampleSale>): Promise<void> {
  await pipeline(lines(town, sales), createWriteStream(file));
}

function* lines(town: Town, sales: Iterable<SampleSale>): Generator<string> {
  yield `${sampleFormat.restaurantColumn},${sampleFormat.dateColumn},${sampleFormat.amountColumn}\n`;
  for (const { restaurant, soldAt, amountMinor } of sales) {
    yield `${restaurant},${formatTime(soldAt)},${formatMinor(amountMinor, town.digits)}\n`;
  }
}

function formatTime({ day, month, year, hour, minute }: Temporal.PlainDateTime): string {
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${two(day)}/${two(month)}/${year} ${two(hour)}:${two(minute)}`;
}
