/**
 * The weather between one partition and its database. After a batch that met some, the partition sends nothing for a
 * while, longer each time, so that a server that is coming back is asked a few times a second and not by everybody at
 * once. The first batch that passes ends it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Backoff, backoffMs } from "./backoff.ts";

export interface Weather {
  /** Resolves when the partition may send again; at once in good weather, and at once after the stop. */
  calm(): Promise<void>;
  /** The batch met weather. */
  bad(): void;
  /** The batch got its answer. */
  good(): void;
}

export interface WeatherOptions {
  /** Ends every wait: what is in hand gets one more try, then goes back to the queue. */
  readonly stopping: AbortSignal;
  /** In [0, 1). */
  readonly random: () => number;
  readonly backoff?: Backoff;
}

export function createWeather({
  stopping,
  random,
  backoff = { firstMs: 100, limitMs: 5_000 },
}: WeatherOptions): Weather {
  let failures = 0;
  let calm: Promise<void> = Promise.resolve();
  return {
    calm: () => calm,
    bad() {
      failures += 1;
      calm = pause(backoffMs(backoff, failures, random), stopping);
    },
    good() {
      failures = 0;
    },
  };
}

/** Resolves after `ms`, or as soon as the process is asked to stop. */
export async function pause(ms: number, stopping: AbortSignal): Promise<void> {
  if (ms <= 0 || stopping.aborted) return;
  await sleep(ms, undefined, { signal: stopping }).catch(() => undefined);
}
