/**
 * Amounts that were cut in two because they lost their quotes: `1,234.50` is a 1 and, in the next column, 234.50. Told by an amount without
 * decimals where others have some, before a column that no option names and that goes on like a number.
 */
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";

/** What follows the first part of a number, and what is between that and the last one. */
const parts = {
  point: { between: /^\d{3}$/u, last: /^\d{3}\.\d+$/u },
  comma: { between: /^(?!)$/u, last: /^\d{1,2}$/u },
};

export interface Columns {
  /** Where the amounts are. */
  readonly amounts: readonly number[];
  /** Columns that options name, these ones too. */
  readonly named: ReadonlySet<number>;
  readonly decimalComma: boolean;
}

export class LostQuotes {
  readonly #columns: readonly number[];
  readonly #named: ReadonlySet<number>;
  readonly #parts: (typeof parts)["point"];
  readonly #decimals: RegExp;
  #haveDecimals = false;
  #count = 0;
  #first: { readonly line: number; readonly amount: string; readonly next: string } | undefined;

  constructor({ amounts, named, decimalComma }: Columns) {
    this.#columns = amounts.filter((at) => !named.has(at + 1));
    this.#named = named;
    this.#parts = decimalComma ? parts.comma : parts.point;
    this.#decimals = decimalComma ? /,\d+\D*$/u : /\.\d+\D*$/u;
  }

  /** Looks at a line that is recorded. */
  look(fields: readonly string[], line: number): void {
    for (const at of this.#columns) {
      const amount = (fields[at] ?? "").trim();
      if (this.#decimals.test(amount)) this.#haveDecimals = true;
      else if (/^\D{0,3}\d{1,3}$/u.test(amount) && this.#goesOn(fields, at + 1)) {
        this.#count += 1;
        this.#first ??= { line, amount, next: (fields[at + 1] ?? "").trim() };
      }
    }
  }

  /** Throws ImportFault `in_doubt`. */
  assertNone(name: string, accepted: ReadonlySet<Acceptance>): void {
    if (this.#first === undefined || !this.#haveDecimals) return;
    const { line, amount, next } = this.#first;
    const others = this.#count === 1 ? "" : ` (and ${this.#count - 1} more such lines)`;
    doubt(accepted, ["whole-amounts"], {
      text: `${name}: line ${line}${others}: the amount ${JSON.stringify(amount)} has no decimals, where others have some, and ${JSON.stringify(next)} follows it: one number that lost its quotes`,
      instead: ["put it in quotes"],
      details: { file: name, line, lines: this.#count },
    });
  }

  #goesOn(fields: readonly string[], from: number): boolean {
    let at = from;
    const isFree = (): boolean => at < fields.length && !this.#named.has(at);
    while (isFree() && this.#parts.between.test(fields[at] ?? "")) at += 1;
    return isFree() && this.#parts.last.test((fields[at] ?? "").trim());
  }
}
