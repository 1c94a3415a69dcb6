/**
 * What one partition remembers of items that went back to the queue for a reason of their own, until they are delivered again:
 * each comes later than the time before, and what has spoiled a batch once goes alone. Forgotten with the process, and the
 * oldest beyond the limit: then they are tried as if for the first time, which costs a few statements.
 */
import type { Item } from "@nightwriter/ledger";
import { type History, untried } from "./settle.ts";

export interface StuckItems {
  /** What was remembered of the item, or {@link untried}. */
  recall(item: Item): History;
  remember(item: Item, history: History): void;
  forget(item: Item): void;
}

export function createStuckItems(limit = 10_000): StuckItems {
  const histories = new Map<string, History>();
  const idOf = ({ runId, businessDate, key }: Item): string => `${runId} ${businessDate} ${key}`;
  return {
    recall: (item) => histories.get(idOf(item)) ?? untried,
    remember(item, history) {
      const id = idOf(item);
      histories.delete(id);
      histories.set(id, history);
      const oldest = histories.keys().next();
      if (histories.size > limit && oldest.done !== true) histories.delete(oldest.value);
    },
    forget: (item) => void histories.delete(idOf(item)),
  };
}
