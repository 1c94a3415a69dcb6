import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Kysely, Transaction } from "kysely";
import type { SalesSchema } from "../schema.ts";

/** A restaurant as people know it. */
export interface ListedRestaurant {
  readonly id: string;
  readonly name: string;
  readonly currency: string;
  /** Oldest first; the first one has no date, it tells all before the second. */
  readonly clocks: readonly ListedClock[];
  /** Whether its nights are planned without being asked for. */
  readonly active: boolean;
  /** Sales of this business date and later are refused. */
  readonly closedSince: string | null;
}

export interface ListedClock {
  readonly from: string | null;
  /** IANA time zone. */
  readonly zone: string;
  /** HH:MM. */
  readonly cutoff: string;
}

/** All restaurants, or those with these ids, in the order of ids. Throws SqlFault. */
export async function listRestaurants({ db }: Database, ids?: readonly string[]): Promise<ListedRestaurant[]> {
  try {
    return await selectRestaurants(db, ids);
  } catch (error) {
    throw sqlFault(error);
  }
}

/** The same within a transaction. Throws the driver's error. */
export async function selectRestaurants(
  db: Kysely<Schema> | Transaction<Schema>,
  ids?: readonly string[],
): Promise<ListedRestaurant[]> {
  const tables = db.withTables<SalesSchema>();
  const restaurants = await tables
    .selectFrom("sales.restaurant")
    .select(["id", "name", "currency", "time_zone as zone", "cutoff", "active", "closed_since as closedSince"])
    .$if(ids !== undefined, (query) => query.where("id", "in", [...(ids ?? [])]))
    .orderBy("id")
    .execute();
  const changes = await tables
    .selectFrom("sales.restaurant_clock")
    .select(["restaurant_id as id", "from_date as from", "time_zone as zone", "cutoff"])
    .orderBy("restaurant_id")
    .orderBy("from_date")
    .execute();
  const later = Map.groupBy(changes, ({ id }) => id);
  return restaurants.map(({ zone, cutoff, ...restaurant }) => ({
    ...restaurant,
    clocks: [{ from: null, zone, cutoff }, ...(later.get(restaurant.id) ?? [])].map(clockOf),
  }));
}

function clockOf({ from, zone, cutoff }: ListedClock): ListedClock {
  return { from, zone, cutoff: cutoff.slice(0, 5) };
}
