/**
 * A file whose bad lines were mended is known by its good ones: by the hash of the content without the lines that were bad.
 */
import { createHash, type Hash } from "node:crypto";
import { readContent } from "../read/content.ts";

/** Which lines of a file were good. */
export interface GoodLines {
  /** Lines that are looked at; what follows is the file's growth. */
  readonly lineCount: number;
  readonly except: ReadonlySet<number>;
}

/** SHA-256 of the good lines, each with a line feed, for each of `choices`; undefined where the file is shorter than that. */
export async function hashGoodLines(
  file: { readonly file: string; readonly signal: AbortSignal | undefined },
  choices: readonly GoodLines[],
): Promise<(string | undefined)[]> {
  const sieves = choices.map((choice) => new Sieve(choice));
  for await (const piece of readContent(file)) for (const sieve of sieves) sieve.take(piece);
  return sieves.map((sieve) => sieve.end());
}

const lineFeed = 0x0a;

class Sieve {
  readonly #choice: GoodLines;
  readonly #hash: Hash = createHash("sha256");
  #line = 1;

  constructor(choice: GoodLines) {
    this.#choice = choice;
  }

  take(piece: Buffer): void {
    for (let from = 0; from < piece.length && this.#line <= this.#choice.lineCount; ) {
      const at = piece.indexOf(lineFeed, from);
      const end = at < 0 ? piece.length : at;
      if (!this.#choice.except.has(this.#line)) this.#hash.update(piece.subarray(from, end));
      if (at < 0) return;
      this.#endLine();
      from = at + 1;
    }
  }

  end(): string | undefined {
    if (this.#line === this.#choice.lineCount) this.#endLine();
    return this.#line > this.#choice.lineCount ? this.#hash.digest("hex") : undefined;
  }

  #endLine(): void {
    if (!this.#choice.except.has(this.#line)) this.#hash.update("\n");
    this.#line += 1;
  }
}
