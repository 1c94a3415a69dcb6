/**
 * The weather between one partition and its database. After a batch that met some, the partition sends nothing for a
 * while, longer each time, so that a server that is coming back is asked a few times a second and not by everybody at
 * once. The first batch that passes ends it.
 */
import { type Backoff, backoffMs } from "../backoff.ts";

export interface Weather {
  /** Resolves when the partition may send again. */
  calm(): Promise<void>;
  /** The batch met weather. Answers whether that is to be told: however often something is tried, a line a second is enough. */
  bad(): boolean;
  /** The batch got its answer. */
  good(): void;
}

export interface WeatherOptions {
  /** Resolves after so many milliseconds, or earlier when there is no time to wait. */
  readonly pause: (ms: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  /** Milliseconds of a monotonic clock. Default: the process's. */
  readonly nowMs?: () => number;
}

const backoff: Backoff = { firstMs: 100, limitMs: 5_000 };
const tellEveryMs = 1_000;

export function createWeather({ pause, random, nowMs = () => performance.now() }: WeatherOptions): Weather {
  let failures = 0;
  let toldAtMs = -Infinity;
  let calm: Promise<void> = Promise.resolve();
  return {
    calm: () => calm,
    bad() {
      failures += 1;
      calm = pause(backoffMs(backoff, failures, random));
      const isNews = nowMs() - toldAtMs >= tellEveryMs;
      if (isNews) toldAtMs = nowMs();
      return isNews;
    },
    good() {
      failures = 0;
    },
  };
}
