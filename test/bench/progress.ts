/** What the benchmark is doing, on stderr, and about how long it will still take. */

export interface Progress {
  /** Says what begins now. `seconds`: how long it takes on an idle machine with two cores, for the estimate. */
  begin(label: string, seconds: number): void;
}

export interface ProgressOptions {
  /** The sum of the seconds of everything that will be begun. */
  readonly seconds: number;
  readonly write: (line: string) => void;
  readonly monotonicMs?: () => number;
}

/** A line for each beginning. What is left is what was expected of it, stretched by how the past went. */
export function startProgress({ seconds, write, monotonicMs = () => performance.now() }: ProgressOptions): Progress {
  const startMs = monotonicMs();
  let expectedDone = 0;
  let underWay = 0;
  return {
    begin(label, expected) {
      expectedDone += underWay;
      underWay = expected;
      const elapsed = (monotonicMs() - startMs) / 1_000;
      const stretch = expectedDone === 0 ? 1 : elapsed / expectedDone;
      const left = Math.max(0, seconds - expectedDone) * stretch;
      write(`${label} · about ${durationText(left)} left`);
    },
  };
}

function durationText(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}
