/**
 * Changing a restaurant, audited, in the turn of imports: none of them is in mid-course with what the restaurant was before.
 *
 * What is recorded keeps its meaning. A currency stays once anything is recorded; a zone or a cutoff holds from a date on that
 * nothing is recorded of yet. The database refuses the rest as well, whoever asks.
 */
import { type Actor, recordAudit } from "@nightwriter/audit";
import type { Database, Schema } from "@nightwriter/database";
import { sql, type Transaction } from "kysely";
import { changeInTurn } from "../record/turn.ts";
import type { SalesSchema } from "../schema.ts";
import { type ListedRestaurant, selectRestaurants } from "./list-restaurants.ts";
import { RestaurantFault } from "./restaurant-fault.ts";
import { checkRestaurantOptions } from "./restaurant-store.ts";

export interface RestaurantChange {
  readonly name?: string;
  /** IANA time zone. */
  readonly zone?: string;
  /** HH:MM. */
  readonly cutoff?: string;
  /** The first business date that zone and cutoff are to tell. Absent: all, which nothing may be recorded of then. */
  readonly from?: Temporal.PlainDate;
  /** ISO 4217; only while nothing is recorded. */
  readonly currency?: string;
  /** The first business date whose sales are refused from now on. `null`: it is open again. */
  readonly closedSince?: Temporal.PlainDate | null;
}

export interface ChangeRestaurantOptions {
  readonly id: string;
  readonly change: RestaurantChange;
  readonly actor: Actor;
  /** As it was typed, for the audit log. */
  readonly verb: string;
  readonly reason: string;
  /** Called whenever an import is still at work. */
  readonly onWait?: () => void;
}

export interface ChangedRestaurant {
  /** False: it was like that already, and nothing was written down. */
  readonly changed: boolean;
  readonly before: ListedRestaurant;
  readonly after: ListedRestaurant;
}

/**
 * All of the change, or nothing. Throws RestaurantFault; ImportFault `zone_unknown`, `cutoff_invalid`, `currency_unknown`; SqlFault.
 */
export async function changeRestaurant(
  database: Database,
  { id, change, actor, verb, reason, onWait }: ChangeRestaurantOptions,
): Promise<ChangedRestaurant> {
  const { zone, cutoff, currency } = change;
  const checked = checkRestaurantOptions({
    ...(zone !== undefined && { zone }),
    ...(cutoff !== undefined && { cutoff }),
    ...(currency !== undefined && { currency }),
  });
  const work = async (transaction: Transaction<Schema>): Promise<ChangedRestaurant> => {
    const before = await restaurantOf(transaction, id);
    await applyChange(transaction, before, { ...change, ...checked });
    const after = await restaurantOf(transaction, id);
    const changed = JSON.stringify(before) !== JSON.stringify(after);
    if (!changed) return { before, after, changed };
    await recordAudit(transaction, {
      actor,
      verb,
      reason,
      arguments: { restaurant: id, ...texts(change) },
      before,
      after,
    });
    return { before, after, changed };
  };
  return changeInTurn(database, work, onWait);
}

function texts({ from, closedSince, ...change }: RestaurantChange): Record<string, unknown> {
  return {
    ...change,
    ...(from !== undefined && { from: from.toString() }),
    ...(closedSince !== undefined && { closedSince: closedSince?.toString() ?? null }),
  };
}

async function restaurantOf(transaction: Transaction<Schema>, id: string): Promise<ListedRestaurant> {
  const [restaurant] = await selectRestaurants(transaction, [id]);
  if (restaurant !== undefined) return restaurant;
  throw new RestaurantFault("restaurant_unknown", `restaurant ${id}: is not known; see: nightwriter restaurants list`, {
    details: { restaurant: id },
  });
}

async function applyChange(
  transaction: Transaction<Schema>,
  { id, currency, clocks }: ListedRestaurant,
  change: RestaurantChange,
): Promise<void> {
  const tables = transaction.withTables<SalesSchema>();
  const update = tables.updateTable("sales.restaurant").where("id", "=", id);
  const { name, zone, cutoff, from, closedSince } = change;
  if (name !== undefined) await update.set({ name }).execute();
  if (change.currency !== undefined && change.currency !== currency) {
    await assertNothingRecorded(
      transaction,
      id,
      `so its currency stays ${currency}; record what is sold in ${change.currency} under another restaurant`,
    );
    await update.set({ currency: change.currency }).execute();
  }
  if (zone !== undefined || cutoff !== undefined) {
    const last = clocks.at(-1);
    const clock = { time_zone: zone ?? last?.zone ?? "", cutoff: cutoff ?? last?.cutoff ?? "" };
    if (from === undefined) await setFirstClock(transaction, { id, clocks, clock });
    else await setClock(transaction, { id, from: from.toString(), clock });
  }
  if (closedSince !== undefined) await setClosed(transaction, id, closedSince);
}

type Clock = { readonly time_zone: string; readonly cutoff: string };

async function setFirstClock(
  transaction: Transaction<Schema>,
  { id, clocks, clock }: { id: string; clocks: ListedRestaurant["clocks"]; clock: Clock },
): Promise<void> {
  const later = clocks.at(1);
  if (later !== undefined) {
    throw fixed(id, `has a clock from ${later.from ?? ""} on, so a change is one from a date on; say --from`);
  }
  await assertNothingRecorded(transaction, id, "whose dates its clock told; say --from with a later date");
  await transaction.updateTable("sales.restaurant").where("id", "=", id).set(clock).execute();
}

async function setClock(
  transaction: Transaction<Schema>,
  { id, from, clock }: { id: string; from: string; clock: Clock },
): Promise<void> {
  const last = await lastRecorded(transaction, id, from);
  if (last !== null) throw fixed(id, `has sales until ${last}, whose dates its clock told; choose a date after it`);
  await transaction
    .withTables<SalesSchema>()
    .insertInto("sales.restaurant_clock")
    .values({ restaurant_id: id, from_date: from, ...clock })
    .onConflict((conflict) => conflict.columns(["restaurant_id", "from_date"]).doUpdateSet(clock))
    .execute();
}

/** A closed restaurant's nights are planned no longer, but for sales that come late. */
async function setClosed(
  transaction: Transaction<Schema>,
  id: string,
  since: Temporal.PlainDate | null,
): Promise<void> {
  if (since !== null) {
    const { rows } = await sql<{ ahead: boolean }>`
      select ${since.toString()}::date > (now() at time zone 'UTC' + interval '14 hours')::date as ahead`.execute(
      transaction,
    );
    if (rows[0]?.ahead === true)
      throw fixed(id, `cannot be closed since ${since.toString()}, which is still to come; close it then`);
    const last = await lastRecorded(transaction, id, since.toString());
    if (last !== null)
      throw fixed(id, `has sales until ${last}; it can be closed since the day after, or undo their import`);
  }
  await transaction
    .withTables<SalesSchema>()
    .updateTable("sales.restaurant")
    .where("id", "=", id)
    .set({ closed_since: since?.toString() ?? null, active: since === null })
    .execute();
}

async function assertNothingRecorded(transaction: Transaction<Schema>, id: string, consequence: string): Promise<void> {
  const { rows } = await sql<{ recorded: boolean }>`select sales.has_records(${id}) as recorded`.execute(transaction);
  if (rows[0]?.recorded === true) throw fixed(id, `has sales or an opening total, ${consequence}`);
}

/** The last date from `from` on that anything is recorded of; null: none. */
async function lastRecorded(transaction: Transaction<Schema>, id: string, from: string): Promise<string | null> {
  const { rows } = await sql<{ last: string | null }>`select max(business_date)::text as last from (
      select business_date from sales.sale where business_date >= ${from} and restaurant_id = ${id}
      union all select business_date from sales.opening_total where business_date >= ${from} and restaurant_id = ${id}) as recorded`.execute(
    transaction,
  );
  return rows[0]?.last ?? null;
}

function fixed(id: string, fact: string): RestaurantFault {
  return new RestaurantFault("restaurant_fixed", `restaurant ${id}: ${fact}; nothing was changed`, {
    details: { restaurant: id },
  });
}
