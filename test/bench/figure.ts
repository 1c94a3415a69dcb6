/** Figures: what was measured in pairs, and what must come out. */

/** One measurement of both sides, one right after the other. */
export interface Pair {
  readonly ours: number;
  readonly theirs: number;
  /** What the two amount to: a ratio, or `ours` alone where nothing is compared. */
  readonly value: number;
}

/** One end of what is good: a figure must not be below, or must not be above. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number };

export interface Figure {
  readonly name: string;
  /** What was measured, ÷ what it was measured by. */
  readonly what: string;
  /** Of `ours` and `theirs`. Empty where there is nothing to compare with. */
  readonly unit: string;
  /** Of the value; empty for a ratio. */
  readonly valueUnit: string;
  readonly bound: Bound;
  readonly pairs: readonly Pair[];
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** `numbers` is not empty. */
export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return { median: (low + high) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** Whether the median is on the good side. */
export function isReached({ bound, pairs }: Figure): boolean {
  const { median } = spreadOf(pairs.map(({ value }) => value));
  return "atLeast" in bound ? median >= bound.atLeast : median <= bound.atMost;
}

/**
 * Measures pair after pair, our side first, so that whatever drifts (caches, the disk, what else runs on the machine) meets
 * both sides alike. One more pair than asked for is run in front and thrown away: it warms both.
 */
export async function measurePairs(
  count: number,
  measure: (pair: number) => Promise<Pick<Pair, "ours" | "theirs">>,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let pair = 0; pair <= count; pair++) {
    const { ours, theirs } = await measure(pair);
    if (pair > 0) pairs.push({ ours, theirs, value: ours / theirs });
  }
  return pairs;
}
