/** Races that are arranged, not hoped for. */

/** A line that nobody crosses before everybody has come to it. */
export interface Barrier {
  /** Waits until all parties are here. */
  readonly arrive: () => Promise<void>;
}

/** Holds everyone back until `parties` have arrived, then lets all go at once; used up after that. */
export function barrier(parties: number): Barrier {
  const { promise, resolve } = Promise.withResolvers<void>();
  let missing = parties;
  return {
    arrive: async () => {
      missing -= 1;
      if (missing <= 0) resolve();
      await promise;
    },
  };
}

/** Points at which a test holds what it tests. */
export interface NamedPoints {
  /** Called from within what is tested: stops there until the test calls `release` for the same name. */
  readonly stopAt: (name: string) => Promise<void>;
  /** Called by the test: waits until somebody stands at the point. */
  readonly reached: (name: string) => Promise<void>;
  /** Lets everyone pass the point, now and later. */
  readonly release: (name: string) => void;
}

/**
 * Points in the code under test at which the test stops it: hold A at "before commit", let B run, release A.
 *
 * A point that is never released holds its party for ever: the test's own timeout says so.
 */
export function namedPoints(): NamedPoints {
  const points = new Map<string, { reached: PromiseWithResolvers<void>; released: PromiseWithResolvers<void> }>();
  const pointAt = (name: string) => {
    const known = points.get(name);
    if (known !== undefined) return known;
    const point = { reached: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() };
    points.set(name, point);
    return point;
  };
  return {
    stopAt: async (name) => {
      const point = pointAt(name);
      point.reached.resolve();
      await point.released.promise;
    },
    reached: async (name) => pointAt(name).reached.promise,
    release: (name) => pointAt(name).released.resolve(),
  };
}
