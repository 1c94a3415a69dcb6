/** What runs added, by currency. The engine counts minor units and knows no currency; the restaurants' table does. */
import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { sql } from "kysely";
import { formatMoney } from "../output/money.ts";

/** Minor units by ISO 4217 code; under an empty code what belongs to no restaurant. */
export type DeltaByCurrency = Readonly<Record<string, bigint>>;

/** Sums the entries of the runs, item by item, so that it costs what the runs are, however long the ledger is. Throws SqlFault. */
export async function deltaByCurrency({ db }: Database, job: Job, runIds: readonly bigint[]): Promise<DeltaByCurrency> {
  try {
    const rows = await db
      .selectFrom("nightwriter.run_item as item")
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom("nightwriter.ledger_entry as entry")
            .select("entry.delta_minor")
            .where("entry.job_id", "=", job.id)
            .whereRef("entry.key", "=", "item.key")
            .whereRef("entry.business_date", "=", "item.business_date")
            .whereRef("entry.run_id", "=", "item.run_id")
            .limit(1)
            .as("entry"),
        (join) => join.onTrue(),
      )
      .leftJoin("sales.restaurant as restaurant", "restaurant.id", "item.key")
      .select(["restaurant.currency", sql<string>`sum(entry.delta_minor)`.as("delta")])
      .where("item.run_id", "=", sql<bigint>`any(${runIds}::bigint[])`)
      .groupBy("restaurant.currency")
      .orderBy("restaurant.currency")
      .execute();
    return Object.fromEntries(rows.map((row) => [row.currency ?? "", BigInt(row.delta)]));
  } catch (error) {
    throw sqlFault(error);
  }
}

/** `446,517.45 GBP and 1,200 JPY`; `nothing` where there is no entry. */
export function formatDeltas(deltas: DeltaByCurrency): string {
  const amounts = Object.entries(deltas).map(([currency, minor]) => formatMoney(minor, currency));
  return amounts.length === 0 ? "nothing" : amounts.join(", ");
}
