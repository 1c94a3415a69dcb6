/** Sample sales on their way into the database: through files and the import, as a till's would be. */
import { join } from "node:path";
import { importSales } from "@nightwriter/sales";
import type { Installation } from "../installation.ts";
import { sampleFormat, writeSampleFile } from "./sample-file.ts";
import { lateSalesOf, type SampleOptions, type SampleSale, salesOf, type Town, towns } from "./sample-night.ts";

/** What was sold, added up while it was made up: nothing that the database computed went into it. */
export interface Sold {
  readonly sales: number;
  readonly refunds: number;
  readonly minorByRestaurant: ReadonlyMap<string, bigint>;
}

export interface Recording extends SampleOptions {
  /** Where the files go. */
  readonly folder: string;
}

/** Records the whole night, one file per town, and returns what was sold. */
export async function recordNight(installation: Installation, recording: Recording): Promise<Sold> {
  const tally = new Tally();
  for (const town of towns) {
    const file = join(recording.folder, `${town.name}.csv`);
    await record(installation, { file, town, sales: tally.count(salesOf(town, recording)) });
  }
  return tally;
}

/** Records one more sale for each of the restaurants, and returns what was sold in these. */
export async function recordLateSales(
  installation: Installation,
  recording: Recording,
  restaurants: readonly string[],
): Promise<Sold> {
  const tally = new Tally();
  for (const town of towns) {
    const ours = restaurants.filter((restaurant) => restaurant.startsWith(`${town.name}-`));
    if (ours.length === 0) continue;
    const file = join(recording.folder, `${town.name}-late.csv`);
    await record(installation, { file, town, sales: tally.count(lateSalesOf(town, ours, recording)) });
  }
  return tally;
}

type TownFile = { readonly file: string; readonly town: Town; readonly sales: Iterable<SampleSale> };

async function record({ database }: Installation, { file, town, sales }: TownFile): Promise<void> {
  await writeSampleFile(file, town, sales);
  await importSales(database, {
    file,
    restaurant: { column: sampleFormat.restaurantColumn },
    date: { column: sampleFormat.dateColumn, format: sampleFormat.dateFormat },
    amount: { column: sampleFormat.amountColumn },
    zone: town.timeZone,
    cutoff: town.cutoff,
    currency: town.currency,
    accept: new Set(["create"]),
  });
}

class Tally implements Sold {
  sales = 0;
  refunds = 0;
  readonly minorByRestaurant = new Map<string, bigint>();

  /** The same sales, counted as they go by. */
  *count(sales: Iterable<SampleSale>): Generator<SampleSale> {
    for (const sale of sales) {
      this.sales += 1;
      if (sale.amountMinor < 0n) this.refunds += 1;
      const before = this.minorByRestaurant.get(sale.restaurant) ?? 0n;
      this.minorByRestaurant.set(sale.restaurant, before + sale.amountMinor);
      yield sale;
    }
  }
}
