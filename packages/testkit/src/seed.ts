/** Randomness that can be run again. */

const SEED_VARIABLE = "SEED";

/** A stream of random numbers that its seed gives again. */
export interface Randomness {
  /** For fast-check: `fc.assert(property, { seed })`. */
  readonly seed: number;
  /** The next number, from 0 up to but not including 1. */
  readonly next: () => number;
  /** The next integer, from 0 up to but not including `end`. */
  readonly below: (end: number) => number;
}

/**
 * A stream of random numbers from a seed that is printed, or from the one in the environment variable SEED: the same seed
 * gives the same stream on every machine.
 */
export function seededRandom(): Randomness {
  const given = process.env[SEED_VARIABLE];
  const seed = given === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(given);
  if (!Number.isSafeInteger(seed)) throw new Error(`${SEED_VARIABLE}=${given}: not an integer`);
  process.stderr.write(`randomised test: ${SEED_VARIABLE}=${seed}\n`);
  return randomOf(seed);
}

/** Weyl sequence and a 32-bit mixer: enough to shuffle a test, and the same everywhere. */
function randomOf(seed: number): Randomness {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  return { seed, next, below: (end) => Math.floor(next() * end) };
}
