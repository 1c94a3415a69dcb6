/**
 * Setbacks that are an item's own: it was alone in its batch, and since the one before others were applied. A slow database
 * lets nobody pass, so it never makes one.
 *
 * Three timeouts of this kind, and the item is too slow: its sum takes longer than a statement may, whoever tries. It is parked,
 * since each try holds up its partition for as long as a statement may take. A row that somebody else has locked is no
 * fault of the item: it is tried again, ever more seldom, and never parked.
 */
import type { Failure } from "@nightwriter/ledger";
import { type Backoff, backoffMs } from "../backoff.ts";

export interface OwnSetbacks {
  readonly count: number;
  /** Those among them in which the server broke off the statement for its time. */
  readonly timeouts: number;
  /** How many items the process had applied at the last of them. Undefined: there was none. */
  readonly appliedCount: number | undefined;
}

export const noSetbacks: OwnSetbacks = { count: 0, timeouts: 0, appliedCount: undefined };

/** query_canceled: the statement timeout. */
const timedOut = "57014";
const patience = 3;
const backoff: Backoff = { firstMs: 1_000, limitMs: 30_000 };

/** With one more, if it counts: nothing was applied since the one before means that the database may be what is slow. */
export function setBackAlone(
  own: OwnSetbacks,
  { sqlstate, appliedCount }: { readonly sqlstate: string | undefined; readonly appliedCount: number },
): OwnSetbacks {
  if (own.appliedCount !== undefined && appliedCount <= own.appliedCount) return own;
  return { count: own.count + 1, timeouts: own.timeouts + (sqlstate === timedOut ? 1 : 0), appliedCount };
}

/** How long the item waits after its last one, so that others pass. */
export function ownSetbackMs({ count }: OwnSetbacks, random: () => number): number {
  return backoffMs(backoff, count, random);
}

/** Why it is to be parked; undefined: not yet. */
export function tooSlow({ timeouts }: OwnSetbacks): Failure | undefined {
  if (timeouts < patience) return undefined;
  const reason = `too slow: the server broke off its statement ${timeouts} times, alone in a batch, while others were applied`;
  return { sqlstate: timedOut, reason };
}
