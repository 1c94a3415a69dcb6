/**
 * What an outcome means for the queue job that carried the item.
 *
 * A queue job completes as soon as there is nothing more to be done by repeating it: the item is applied, or was, or
 * waits for a person. What is due although its job completed (an item that was unparked, a key that was resumed) comes
 * back under a new generation; that is the reconciler's duty, not this file's.
 *
 * Everything else is tried again, and no try uses up one of the queue's attempts:
 *   - contention (fenced, conflict) is over in milliseconds, or it is somebody else's turn: the job goes back;
 *   - weather lasts as long as it lasts. The item stays in hand, since every other worker has the same weather.
 *
 * Once the partition is not this process's any more, whatever would be tried again goes back to the queue at once.
 */
import type { ItemOutcome } from "@nightwriter/ledger";
import { type Backoff, backoffMs } from "../backoff.ts";

/** What was tried in vain with an item since it was delivered. */
export interface History {
  readonly contentions: number;
  /** How often the server refused the statement that the item was in: a lock, a timeout, a lack of resources. */
  readonly setbacks: number;
}

export const untried: History = { contentions: 0, setbacks: 0 };

/** Nothing was sent for the item: the right to write to its partition had ended. */
export interface Unsent {
  readonly outcome: "unsent";
}

export type Settlement =
  | { readonly next: "complete" }
  /** Keep the queue job in hand and submit the item again. */
  | { readonly next: "again"; readonly afterMs: number; readonly history: History }
  /** Back to the queue, to be delivered again to whichever worker. */
  | { readonly next: "postpone"; readonly afterMs: number };

const contention: Backoff = { firstMs: 20, limitMs: 500 };
const contentionLimit = 8;
const postponement: Backoff = { firstMs: 2_000, limitMs: 2_000 };
/** Spread a little, so that the next holder does not get them all in one moment. */
const handBackMs = 1_000;

const complete: Settlement = { next: "complete" };

export interface SettleOptions {
  /** Whether the partition is to be left: what would be tried again goes back to the queue then. */
  readonly leaving: boolean;
  /** Whether the right to write to it has ended: the same, and sooner. */
  readonly ended: boolean;
  /** In [0, 1). */
  readonly random: () => number;
}

/** What is to be done with the queue job of an item whose history ends with this outcome. */
export function settle(outcome: ItemOutcome | Unsent, history: History, options: SettleOptions): Settlement {
  const { leaving, ended, random } = options;
  const settlement = settleRunning(outcome, history, random);
  if (settlement.next !== "again") return settlement;
  if (ended) return handBack(random);
  return leaving ? postpone(random) : settlement;
}

function settleRunning(outcome: ItemOutcome | Unsent, history: History, random: () => number): Settlement {
  switch (outcome.outcome) {
    case "applied":
    case "duplicate":
    case "withdrawn":
    case "parked":
      return complete;
    case "fenced":
      // Without leases the term was read again by now. If that did not help, it is contention like any other.
      return history.contentions === 0 ? again(0, contended(history)) : settleContention(history, random);
    case "conflict":
      return settleContention(history, random);
    case "unsent":
      return handBack(random);
    case "unknown":
      // The partition itself waits for better weather before it sends its next batch.
      return again(0, outcome.fault.code === "weather" ? setBack(history) : history);
  }
}

/**
 * How many items may share a batch with one of this history. The server may have refused a whole batch because of one
 * item (its row is locked for long, its sum takes longer than the statement may): a quarter of the size at each setback
 * isolates that one after four, and lets the others pass. A lost connection says nothing about the items and narrows nothing.
 */
export function batchLimit({ setbacks }: History, batchSize: number): number {
  return Math.max(1, Math.floor(batchSize / 4 ** setbacks));
}

function settleContention(history: History, random: () => number): Settlement {
  const next = contended(history);
  return next.contentions > contentionLimit
    ? postpone(random)
    : again(backoffMs(contention, next.contentions, random), next);
}

function again(afterMs: number, history: History): Settlement {
  return { next: "again", afterMs, history };
}

function postpone(random: () => number): Settlement {
  return { next: "postpone", afterMs: Math.round(backoffMs(postponement, 1, random)) };
}

function handBack(random: () => number): Settlement {
  return { next: "postpone", afterMs: Math.round(handBackMs * random()) };
}

const contended = (history: History): History => ({ ...history, contentions: history.contentions + 1 });
const setBack = (history: History): History => ({ ...history, setbacks: history.setbacks + 1 });
