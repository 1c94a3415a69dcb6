/**
 * How far this process's wall clock is from the database's.
 *
 * Nothing that is right depends on it: what is due, the database's clock says. But a process whose clock is wrong is not to be
 * relied on for being there in time, and its log lines carry the wrong time; so a difference is told, and a large one keeps it from
 * leading. The monotonic clock, by which leases are trusted, is another one.
 */
import type { Clock, Logger } from "@nightwriter/core";

/** From this difference on it is told. Clocks that a time service sets are a few milliseconds apart. */
const toldFromMs = 2_000;
/** From this difference on a process does not lead. */
const apartFromMs = 30_000;

type Standing = "together" | "told" | "apart";

/** Remembers the last comparison of two clocks. */
export interface ClockWatch {
  /**
   * Asks the database what time it is, and notes how far this process's clock was from that: only as far as the way there and back
   * does not explain it. Returns the database's instant. Throws what `ask` throws.
   */
  compare(ask: () => Promise<Temporal.Instant>): Promise<Temporal.Instant>;
  /** Milliseconds by which this process's clock was ahead of the database's at the last comparison; negative: behind. */
  aheadMs(): number;
  /** Why this process must not lead, as a text for the log; undefined: its clock is no reason. */
  why(): string | undefined;
}

/** Logs one line for each change between agreeing, differing by more than 2 s, and by more than 30 s; not one for each comparison. */
export function createClockWatch({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): ClockWatch {
  let aheadMs = 0;
  let standing: Standing = "together";

  function note(difference: number): void {
    aheadMs = difference;
    const before = standing;
    standing = standingOf(Math.abs(difference), before);
    if (standing === before) return;
    if (standing === "together") logger.info({ clockAheadMs: aheadMs }, "clock agrees with the database's again");
    else if (standing === "told") logger.warn({ clockAheadMs: aheadMs }, "clock differs from the database's");
    else logger.error({ clockAheadMs: aheadMs }, "clock differs from the database's by more than 30 s: not leading");
  }

  return {
    async compare(ask) {
      const before = clock.now();
      const now = await ask();
      note(differenceMs(now, before, clock.now()));
      return now;
    },
    aheadMs: () => aheadMs,
    why: () => (standing === "apart" ? apartText(aheadMs) : undefined),
  };
}

/** A change back counts at half the limit, so that a difference at a limit is no line each round. */
function standingOf(byMs: number, before: Standing): Standing {
  const apart = before === "apart" ? apartFromMs / 2 : apartFromMs;
  if (byMs > apart) return "apart";
  const told = before === "together" ? toldFromMs : toldFromMs / 2;
  return byMs > told ? "told" : "together";
}

/** The database said `now` at some moment between the two: where it lies between them, the clocks may be the same. */
function differenceMs(now: Temporal.Instant, before: Temporal.Instant, after: Temporal.Instant): number {
  const nowMs = now.epochMilliseconds;
  const beforeMs = before.epochMilliseconds;
  const afterMs = after.epochMilliseconds;
  if (nowMs < beforeMs) return beforeMs - nowMs;
  return nowMs > afterMs ? afterMs - nowMs : 0;
}

function apartText(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return `its clock is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} the database's; set it right`;
}
