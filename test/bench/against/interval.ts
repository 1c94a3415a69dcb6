/** What a handful of noisy ratios say: their median, and between which values the true one lies. */
import { spreadOf } from "../figure.ts";

export interface Interval {
  readonly median: number;
  /** Ends of the interval; infinite while there are too few values for one. */
  readonly low: number;
  readonly high: number;
}

/** How sure one may be that the interval holds the true median. */
const confidence = 0.95;

/** How far apart the ends are where the measuring stops: ± 0.03. */
const narrowEnough = 0.06;

/** Below this, and with 1 outside of the interval, a build is slower. */
const lowestMedian = 0.97;

/**
 * The median and its 95 % interval, from order statistics: the k-th least and the k-th greatest value, where so few of n fair coins
 * fall on one side with less than a fortieth. It supposes nothing of how the values are spread. `values` is not empty; below
 * six there is no interval. Source: Conover, Practical Nonparametric Statistics, "confidence interval for a quantile".
 */
export function medianInterval(values: readonly number[]): Interval {
  const sorted = values.toSorted((one, other) => one - other);
  const { median } = spreadOf(sorted);
  const rank = rankOf(sorted.length);
  return {
    median,
    low: sorted[rank - 1] ?? Number.NEGATIVE_INFINITY,
    high: rank === 0 ? Number.POSITIVE_INFINITY : (sorted.at(-rank) ?? Number.POSITIVE_INFINITY),
  };
}

/** The greatest k for which the interval is still sure enough; 0: there is none. */
function rankOf(count: number): number {
  let tail = 0;
  let ways = 1;
  for (let heads = 0; heads <= count / 2; heads++) {
    tail += ways / 2 ** count;
    if (2 * tail > 1 - confidence) return heads;
    ways = (ways * (count - heads)) / (heads + 1);
  }
  return 0;
}

/** Whether measuring on would say little more. */
export function isNarrow({ low, high }: Interval): boolean {
  return high - low <= narrowEnough;
}

/** - `slower`: the median is below 0.97 and 1 is outside of the interval. - `inconclusive`: not that, and the interval is wider than ± 0.03. */
export type Verdict = "slower" | "no slower" | "inconclusive";

export function verdictOf(interval: Interval): Verdict {
  if (interval.median < lowestMedian && interval.high < 1) return "slower";
  return isNarrow(interval) ? "no slower" : "inconclusive";
}
