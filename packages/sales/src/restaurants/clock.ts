/** Which clock tells a restaurant's business dates, and from which date on. */
import { businessDay, wallMsOf } from "../read/business-date.ts";

export interface Clock {
  /** The first business date that it tells, in days since 1970-01-01; the first clock of a restaurant tells all before. */
  readonly fromDay: number;
  readonly zone: string;
  /** Milliseconds after midnight. */
  readonly cutoffMs: number;
}

/** A restaurant's clocks, the newest first; the last one begins at -Infinity. */
export type Clocks = readonly [Clock, ...Clock[]];

/**
 * The business day of a moment, in days since 1970-01-01: by the newest clock that had begun by then. Between the end of one clock's last
 * date and the beginning of the next one's first, which differ if the cutoff does, a moment belongs to the last date of the earlier.
 */
export function dayBy(clocks: Clocks, ms: number, isInstant: boolean): number {
  let lastDay = Number.POSITIVE_INFINITY;
  let day = lastDay;
  for (const { fromDay, zone, cutoffMs } of clocks) {
    day = Math.min(businessDay(isInstant ? wallMsOf(ms, zone) : ms, cutoffMs), lastDay);
    if (day >= fromDay) return day;
    lastDay = fromDay - 1;
  }
  return day;
}
