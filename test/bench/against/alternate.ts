/** Two sides, measured in turns until their ratio is known well enough. */
import type { Pair } from "../figure.ts";
import { type Interval, isNarrow, medianInterval } from "./interval.ts";

export interface AlternateOptions {
  readonly ours: () => Promise<number>;
  readonly theirs: () => Promise<number>;
  /** Pairs at most, besides the one that warms both up and counts for nothing. */
  readonly pairCount: number;
  /** Milliseconds after which no further pair is begun. */
  readonly limitMs: number;
  /** Called before each pair, with what is known by then. */
  readonly onPair: (pair: number, soFar: Interval | undefined) => void;
  readonly monotonicMs?: () => number;
}

/**
 * Measures pair after pair in the order A B B A, so that what drifts (the disk, a growing table, what else runs on the machine) meets
 * both sides alike. Ends when the interval of the median is ± 0.03, when the pairs are up, or when the time is.
 */
export async function alternate(options: AlternateOptions): Promise<Pair[]> {
  const { ours: measureOurs, theirs: measureTheirs, pairCount, limitMs, onPair } = options;
  const { monotonicMs = () => performance.now() } = options;
  const startMs = monotonicMs();
  const pairs: Pair[] = [];
  for (let pair = 0; pair <= pairCount; pair++) {
    const soFar = pairs.length === 0 ? undefined : medianInterval(pairs.map(({ value }) => value));
    if (pairs.length > 0 && ((soFar !== undefined && isNarrow(soFar)) || monotonicMs() - startMs >= limitMs)) break;
    onPair(pair, soFar);
    const first = pair % 2 === 0 ? await measureTheirs() : await measureOurs();
    const second = pair % 2 === 0 ? await measureOurs() : await measureTheirs();
    const [ours, theirs] = pair % 2 === 0 ? [second, first] : [first, second];
    if (pair > 0) pairs.push({ ours, theirs, value: ours / theirs });
  }
  return pairs;
}
