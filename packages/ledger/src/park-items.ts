/** Setting items aside for a person, all of a batch at once. */
import { type Database, type Schema, type Statement, sqlFault, statement } from "@nightwriter/database";
import { type QueryCreator, sql } from "kysely";
import { recordAttempts } from "./attempt-store.ts";
import { type GivenItems, given, givenItems } from "./given-items.ts";
import type { Item, ItemOutcome } from "./item.ts";
import { closeGates, inGateOrder } from "./run-gate.ts";

export interface ParkedItem {
  readonly item: Item;
  readonly outcome: Extract<ItemOutcome, { outcome: "parked" }>;
}

/**
 * After it returns the items are parked with their reasons, and nothing of them is applied any more: the runs' revisions
 * are raised first, which waits for writes in flight and makes later ones that saw the old revision change nothing.
 * Runs are locked in id order. Throws SqlFault, and then nothing is parked.
 */
export async function parkItems(
  { db }: Database,
  parked: readonly ParkedItem[],
  origin: { readonly fencingToken: bigint; readonly worker: string },
): Promise<void> {
  const items = parked.map(({ item }) => item);
  const runIds = inGateOrder(items.map((item) => item.runId));
  try {
    await db.transaction().execute(async (transaction) => {
      await closeGates(transaction, runIds);
      await transaction
        .selectFrom("nightwriter.run")
        .select("id")
        .where("id", "in", runIds)
        .orderBy("id")
        .forNoKeyUpdate()
        .execute();
      await transaction
        .updateTable("nightwriter.run")
        .set({ revision: sql<bigint>`revision + 1` })
        .where("id", "in", runIds)
        .execute();
      await transaction.executeQuery(setParked(transaction).bind(givenItems(items)));
      await recordAttempts({ db: transaction }, parked, origin);
    });
  } catch (error) {
    throw sqlFault(error);
  }
}

/** Parks those of the given items that are due and have no entry. */
function setParked(db: QueryCreator<Schema>): Statement<GivenItems, object> {
  return statement(
    db
      .updateTable("nightwriter.run_item as item")
      .from(given)
      .set({ status: "parked" })
      .whereRef("item.run_id", "=", "given.run_id")
      .whereRef("item.business_date", "=", "given.business_date")
      .whereRef("item.key", "=", "given.key")
      .where("item.status", "=", "due")
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom("nightwriter.ledger_entry as entry")
              .select("entry.version_after")
              .whereRef("entry.key", "=", "given.key")
              .whereRef("entry.business_date", "=", "given.business_date")
              .whereRef("entry.run_id", "=", "given.run_id"),
          ),
        ),
      ),
  );
}
