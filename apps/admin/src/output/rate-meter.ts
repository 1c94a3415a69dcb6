/** How fast something goes now, from when how much of it was done. */

const WINDOW_MS = 10_000;

type Sample = { readonly atMs: number; readonly done: number };

export interface RateMeter {
  /** Notes how much is done by now. Less than before: it starts anew, and so does the rate. */
  add(done: number, atMs: number): void;
  /** Per second, over the last ten seconds; undefined until there are two samples apart. */
  perSecond(): number | undefined;
}

/** A rate over a sliding window, so that a pause and a restart show within seconds, and one slow batch does not. */
export function rateMeter(): RateMeter {
  let samples: Sample[] = [];
  return {
    add(done, atMs) {
      if (done < (samples.at(-1)?.done ?? 0)) samples = [];
      samples.push({ atMs, done });
      // The last sample before the window stays: without it a window with one sample would have no rate.
      const first = samples.findLastIndex((sample) => sample.atMs <= atMs - WINDOW_MS);
      if (first > 0) samples = samples.slice(first);
    },
    perSecond() {
      const [oldest] = samples;
      const newest = samples.at(-1);
      if (oldest === undefined || newest === undefined || newest.atMs === oldest.atMs) return undefined;
      return ((newest.done - oldest.done) * 1_000) / (newest.atMs - oldest.atMs);
    },
  };
}
