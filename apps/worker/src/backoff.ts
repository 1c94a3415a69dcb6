/** How long to wait before the next try: twice as long each time up to a limit, and never the same for two that failed together. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Backoff {
  /** The longest wait after the first failure. */
  readonly firstMs: number;
  readonly limitMs: number;
}

/** Milliseconds to wait after the `failures`-th failure in a row, from 1: between half of the exponential and all of it. `random` is in [0, 1). */
export function backoffMs({ firstMs, limitMs }: Backoff, failures: number, random: () => number): number {
  const longest = Math.min(limitMs, firstMs * 2 ** (failures - 1));
  return longest * (0.5 + random() / 2);
}

/** Resolves after `ms`, or as soon as the process is asked to stop. */
export async function pause(ms: number, stopping: AbortSignal): Promise<void> {
  if (ms <= 0 || stopping.aborted) return;
  await sleep(ms, undefined, { signal: stopping }).catch(() => undefined);
}
