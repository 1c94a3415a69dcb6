/** The story's time: seconds since it began, played faster than they were. It only paces; what happens waits for what must have happened. */
import { setTimeout } from "node:timers/promises";

export interface StoryClock {
  readonly speed: number;
  /** Now is 0. */
  start(): void;
  /** Returns when the story is so many seconds old, or at once if it is already. Throws the signal's reason. */
  until(second: number): Promise<void>;
  /** How old the story is now, in its own seconds. */
  seconds(): number;
  /** So many seconds of the story, in milliseconds of ours. */
  toMs(seconds: number): number;
}

export function storyClock(speed: number, signal: AbortSignal): StoryClock {
  let startMs = performance.now();
  const toMs = (seconds: number): number => (seconds * 1_000) / speed;
  return {
    speed,
    toMs,
    start: () => {
      startMs = performance.now();
    },
    seconds: () => ((performance.now() - startMs) * speed) / 1_000,
    async until(second) {
      const leftMs = startMs + toMs(second) - performance.now();
      signal.throwIfAborted();
      if (leftMs > 0) await setTimeout(leftMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
  };
}
