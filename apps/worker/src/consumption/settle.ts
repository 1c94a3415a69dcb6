/**
 * What an outcome means for the queue job that carried the item.
 *
 * A queue job completes as soon as there is nothing more to be done by repeating it: the item is applied, or was, or
 * waits for a person. What is due although its job completed (an item that was unparked, a key that was resumed) comes
 * back under a new generation; that is the reconciler's duty, not this file's.
 *
 * Everything else is tried again, and no try uses up one of the queue's attempts:
 *   - contention (fenced, conflict) is over in milliseconds, or it is somebody else's turn: the job goes back;
 *   - what fails by itself and was not parked goes back too, and is tried alone from then on;
 *   - weather lasts as long as it lasts. The item stays in hand, since every other worker has the same weather. Unless others
 *     are applied between two setbacks of an item that is alone in its batch: then they are its own, see own-setbacks.ts.
 *
 * An item that goes back for a reason of its own comes again later each time, from 2 s to a minute: nothing that is stuck is
 * tried several times a second for ever.
 *
 * Once the partition is not this process's any more, whatever would be tried again goes back to the queue at once.
 */
import type { Failure, ItemOutcome } from "@nightwriter/ledger";
import { type Backoff, backoffMs } from "../backoff.ts";
import { noSetbacks, type OwnSetbacks, ownSetbackMs, setBackAlone, tooSlow } from "./own-setbacks.ts";

/** What was tried in vain with an item since it was delivered. */
export interface History {
  readonly contentions: number;
  /** How often the server refused the statement that the item was in: a lock, a timeout, a lack of resources. */
  readonly setbacks: number;
  /** Those among them that it met alone while others were applied. */
  readonly own: OwnSetbacks;
  /** How often it went back to the queue for a reason of its own. */
  readonly postponements: number;
  /** Whether its own data or rows have failed it, so that it must not spoil another batch. */
  readonly failed: boolean;
}

export const untried: History = { contentions: 0, setbacks: 0, own: noSetbacks, postponements: 0, failed: false };

/** Nothing was sent for the item: the right to write to its partition had ended. */
export interface Unsent {
  readonly outcome: "unsent";
}

export type Settlement =
  | { readonly next: "complete" }
  /** Keep the queue job in hand and submit the item again. */
  | { readonly next: "again"; readonly afterMs: number; readonly history: History }
  /** Set the item aside for a person: nothing but itself stands in its way. */
  | { readonly next: "park"; readonly failure: Failure; readonly history: History }
  /** Back to the queue, to be delivered again to whichever worker; with what is to be remembered of the item then, if anything. */
  | { readonly next: "postpone"; readonly afterMs: number; readonly history?: History };

const contention: Backoff = { firstMs: 20, limitMs: 500 };
const contentionLimit = 8;
/** Of an item that has gone back before. */
const laterContentionLimit = 1;
const postponement: Backoff = { firstMs: 2_000, limitMs: 60_000 };
/** Spread a little, so that the next holder does not get them all in one moment. */
const handBackMs = 1_000;

const complete: Settlement = { next: "complete" };

export interface SettleOptions {
  /** Whether the partition is to be left: what would be tried again goes back to the queue then. */
  readonly leaving: boolean;
  /** Whether the right to write to it has ended: the same, and sooner. */
  readonly ended: boolean;
  /** Items in a batch, at most. */
  readonly batchSize: number;
  /** How many items this process has applied so far. */
  readonly appliedCount: number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** What is to be done with the queue job of an item whose history ends with this outcome. */
export function settle(outcome: ItemOutcome | Unsent, history: History, options: SettleOptions): Settlement {
  const { leaving, ended, random } = options;
  const settlement = settleRunning(outcome, history, options);
  if (settlement.next !== "again") return settlement;
  if (ended) return handBack(random);
  return leaving ? { next: "postpone", afterMs: Math.round(backoffMs(postponement, 1, random)) } : settlement;
}

function settleRunning(outcome: ItemOutcome | Unsent, history: History, options: SettleOptions): Settlement {
  const { random } = options;
  switch (outcome.outcome) {
    case "applied":
    case "duplicate":
    case "withdrawn":
    case "parked":
      return complete;
    case "failing":
      return postpone({ ...history, failed: true }, random);
    case "fenced":
      // Without leases the term was read again by now. If that did not help, it is contention like any other.
      return history.contentions === 0 ? again(0, contended(history)) : settleContention(history, random);
    case "conflict":
      return settleContention(history, random);
    case "unsent":
      return handBack(random);
    case "unknown":
      // The partition itself waits for better weather before it sends its next batch.
      return outcome.fault.code === "weather"
        ? settleSetback(outcome.fault.sqlstate, history, options)
        : again(0, history);
  }
}

/** A setback in company makes the next batch smaller; one that the item met alone may be its own. */
function settleSetback(sqlstate: string | undefined, history: History, options: SettleOptions): Settlement {
  const { batchSize, appliedCount, random } = options;
  const isAlone = batchLimit(history, batchSize) === 1;
  const own = isAlone ? setBackAlone(history.own, { sqlstate, appliedCount }) : history.own;
  const next = { ...history, own, setbacks: history.setbacks + 1 };
  const failure = tooSlow(own);
  if (failure !== undefined) return { next: "park", failure, history: next };
  return again(own.count > history.own.count ? ownSetbackMs(own, random) : 0, next);
}

/**
 * How many items may share a batch with one of this history. The server may have refused a whole batch because of one
 * item (its row is locked for long, its sum takes longer than the statement may): a quarter of the size at each setback
 * isolates that one after four, and lets the others pass. A lost connection says nothing about the items and narrows nothing.
 * What has failed by itself goes alone.
 */
export function batchLimit({ setbacks, failed }: History, batchSize: number): number {
  return failed ? 1 : Math.max(1, Math.floor(batchSize / 4 ** setbacks));
}

function settleContention(history: History, random: () => number): Settlement {
  const next = contended(history);
  const limit = history.postponements === 0 ? contentionLimit : laterContentionLimit;
  return next.contentions > limit
    ? postpone(history, random)
    : again(backoffMs(contention, next.contentions, random), next);
}

function again(afterMs: number, history: History): Settlement {
  return { next: "again", afterMs, history };
}

function postpone(history: History, random: () => number): Settlement {
  const postponements = history.postponements + 1;
  const afterMs = Math.round(backoffMs(postponement, postponements, random));
  return { next: "postpone", afterMs, history: { ...history, contentions: 0, postponements } };
}

function handBack(random: () => number): Settlement {
  return { next: "postpone", afterMs: Math.round(handBackMs * random()) };
}

const contended = (history: History): History => ({ ...history, contentions: history.contentions + 1 });
