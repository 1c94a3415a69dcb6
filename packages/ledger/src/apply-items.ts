/** Applying a batch of items, from the statement to what is written down of those that were not applied: see batch.ts. */
import { invariant } from "@nightwriter/core";
import type { ApplyContext } from "./apply-context.ts";
import { Batch } from "./batch.ts";
import type { Failure, Item, ItemOutcome } from "./item.ts";
import { recordOutcomes } from "./record-outcomes.ts";

/** Items in one statement, at most. */
export const maxBatchSize = 500;

/**
 * Applies up to {@link maxBatchSize} items of one partition, at most one for each key, and answers in their order. When it
 * returns, each `applied` and `duplicate` item has exactly one entry, durably; no other item was changed by this call,
 * except that `unknown` ones may still become applied. Throws SqlFault when the statement itself is wrong (a source query
 * that does not fit the schema), which shows in its being refused over no items, and a Fault when a newer build has changed
 * the source query: nothing was written then, and this process must not go on.
 */
export async function applyItems(context: ApplyContext, items: readonly Item[]): Promise<ItemOutcome[]> {
  invariant(items.length <= maxBatchSize, `batch of ${items.length} items: at most ${maxBatchSize} go into one`);
  invariant(new Set(items.map((item) => item.key)).size === items.length, "batch: a key is in it twice");
  const batch = new Batch(context, items);
  await batch.settle();
  const outcomes = await recordOutcomes(context, batch.outcomes());
  return items.map((item) => outcomeOf(item, outcomes));
}

/**
 * Parks an item for a reason that its caller has found in more than one try, and answers what became of it: `parked`, if nothing
 * of it can be applied any more; otherwise what stood in the way. No statement of the item may be under way from this process.
 */
export async function setAside(context: ApplyContext, item: Item, failure: Failure): Promise<ItemOutcome> {
  const outcomes = await recordOutcomes(context, new Map([[item, { outcome: "parked", ...failure }]]));
  return outcomeOf(item, outcomes);
}

function outcomeOf(item: Item, outcomes: ReadonlyMap<Item, ItemOutcome>): ItemOutcome {
  const outcome = outcomes.get(item);
  invariant(outcome !== undefined, `item of key ${item.key}: has no outcome`);
  return outcome;
}
