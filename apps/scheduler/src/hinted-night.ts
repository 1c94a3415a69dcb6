import { setTimeout as sleep } from "node:timers/promises";
import { businessDateOf, databaseNow } from "@nightwriter/schedule";
import type { Duty } from "./duty.ts";
import { runNight } from "./run-night.ts";

/** How long a tick that came too early is held. Clocks that are set by one time service are a few milliseconds apart. */
const heldAtMostMs = 2_000;

/**
 * Runs the night that was due last by the database's clock, which is the one of the tick if this process's clock is right. One that is
 * a little ahead ticks a little too early: the tick waits for the database. One that is far ahead is no hint.
 */
export async function hintedNight(duty: Duty, tickedAt: Temporal.Instant): Promise<void> {
  const now = await databaseNow(duty.planner);
  const earlyMs = tickedAt.since(now).total("milliseconds");
  const isHeld = earlyMs > 0 && earlyMs <= heldAtMostMs;
  // A timer drops what is less than a millisecond, and the tick must not come before its time.
  if (isHeld) await sleep(Math.ceil(earlyMs));
  const businessDate = businessDateOf(duty.job, isHeld ? tickedAt : now);
  if (businessDate !== undefined) await runNight(duty, businessDate);
}
