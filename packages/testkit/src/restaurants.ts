/** Rows of the shipped job's domain, as tests need them. */

import { randomUUID } from "node:crypto";
import type { Schema } from "@nightwriter/database";
import type { Insertable, Kysely } from "kysely";

const ROWS_PER_STATEMENT = 1_000;

type Restaurant = Insertable<Schema["sales.restaurant"]>;

/** Makes restaurants `r0001`, `r0002`… in Asia/Kolkata and rupees unless told otherwise; returns their ids. */
export async function makeRestaurants(
  db: Kysely<Schema>,
  count: number,
  fields: Partial<Restaurant> = {},
): Promise<readonly string[]> {
  const rows = Array.from({ length: count }, (_, index) => {
    const id = `r${String(index + 1).padStart(4, "0")}`;
    return { id, name: `Restaurant ${index + 1}`, time_zone: "Asia/Kolkata", currency: "INR", ...fields };
  });
  for (const some of chunksOf(rows)) await db.insertInto("sales.restaurant").values(some).execute();
  return rows.map(({ id }) => id);
}

/** A sale, as far as a test cares. */
export interface SaleRow {
  readonly restaurant: string;
  /** YYYY-MM-DD */
  readonly businessDate: string;
  readonly amountMinor: bigint | number;
}

/** Records these sales under a source of their own: the same rows twice are twice the sales. */
export async function recordSales(db: Kysely<Schema>, sales: readonly SaleRow[]): Promise<void> {
  const source = `test-${randomUUID()}`;
  const rows = sales.map(({ restaurant, businessDate, amountMinor }, index) => ({
    restaurant_id: restaurant,
    business_date: businessDate,
    source,
    source_line: index + 1,
    amount_minor: amountMinor,
  }));
  for (const some of chunksOf(rows)) await db.insertInto("sales.sale").values(some).execute();
}

function* chunksOf<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    yield rows.slice(start, start + ROWS_PER_STATEMENT);
  }
}
