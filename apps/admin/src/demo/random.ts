/** Chance that can be repeated: the same seed, the same draws, on every machine. */
import { createHash } from "node:crypto";

export interface Random {
  /** From 0, included, to 1, excluded. */
  uniform(): number;
  /** From min to max, both included. */
  integer(min: number, max: number): number;
  /** Bell-shaped around 0 with standard deviation 1. */
  normal(): number;
}

/** Draws from SHA-512 of seed and counter: slower than a generator made for it, and nothing to get wrong. */
export function seededRandom(seed: string): Random {
  let words = new Uint32Array(0);
  let used = 0;
  let block = 0;
  const uniform = (): number => {
    if (used === words.length) {
      const digest = createHash("sha512").update(`${seed}/${block++}`).digest();
      words = Uint32Array.from({ length: digest.length / 4 }, (_, index) => digest.readUInt32BE(index * 4));
      used = 0;
    }
    return (words[used++] ?? 0) / 2 ** 32;
  };
  return {
    uniform,
    integer: (min, max) => min + Math.floor(uniform() * (max - min + 1)),
    // Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  };
}
