/**
 * Amounts that were cut in two because they lost their quotes: `1,234.50` is a 1 and, in the next column, 234.50. Told by an amount without
 * decimals in a column whose others have some, before a column that no option names and that goes on like a number. Only where a comma parts
 * fields: no other delimiter stands inside a number.
 */
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";

/** What may stand behind the last digit: a sign, a currency, the Indian end mark. */
const end = String.raw`(?:[\s\p{Sc}()+−-]|[A-Z]{3}|/-)*$`;
/** What a number that is cut looks like: its first part, those between, which in India have two digits, the last one; and a whole one. */
const parts = {
  point: {
    first: /^\D{0,6}\d{1,3}$/u,
    between: /^\d{2,3}$/u,
    last: new RegExp(String.raw`^\d{3}\.\d+${end}`, "u"),
    decimals: /\.\d+\D*$/u,
  },
  comma: {
    first: /^\D{0,6}\d{1,3}(?:[.'’ \u00A0\u202F]?\d{3})*$/u,
    between: /^(?!)$/u,
    last: new RegExp(String.raw`^\d{1,2}${end}`, "u"),
    decimals: /,\d+\D*$/u,
  },
};

export interface AmountPlace {
  readonly at: number;
  readonly decimalComma: boolean;
}

export interface Columns {
  readonly amounts: readonly AmountPlace[];
  /** Columns that options name, these ones too. */
  readonly named: ReadonlySet<number>;
}

type Cut = { readonly line: number; readonly amount: string; readonly next: string };
type Column = {
  readonly at: number;
  readonly parts: (typeof parts)["point"];
  hasDecimals: boolean;
  cuts: number;
  first: Cut | undefined;
};

export class LostQuotes {
  readonly #columns: readonly Column[];
  readonly #named: ReadonlySet<number>;

  constructor({ amounts, named }: Columns) {
    this.#named = named;
    this.#columns = amounts
      .filter(({ at }) => !named.has(at + 1))
      .map(({ at, decimalComma }) => ({
        at,
        parts: decimalComma ? parts.comma : parts.point,
        hasDecimals: false,
        cuts: 0,
        first: undefined,
      }));
  }

  /** Looks at a line that is recorded. */
  look(fields: readonly string[], line: number): void {
    for (const column of this.#columns) {
      const amount = (fields[column.at] ?? "").trim();
      if (column.parts.decimals.test(amount)) column.hasDecimals = true;
      else if (column.parts.first.test(amount) && this.#goesOn(fields, column)) {
        column.cuts += 1;
        column.first ??= { line, amount, next: (fields[column.at + 1] ?? "").trim() };
      }
    }
  }

  /** Looks at a line that is not recorded now: its amounts say how those of its columns are written. */
  learn(fields: readonly string[]): void {
    for (const column of this.#columns) {
      column.hasDecimals ||= column.parts.decimals.test((fields[column.at] ?? "").trim());
    }
  }

  /** Throws ImportFault `in_doubt`. */
  assertNone(name: string, accepted: ReadonlySet<Acceptance>): void {
    const found = this.#columns.find(({ hasDecimals, first }) => hasDecimals && first !== undefined);
    if (found?.first === undefined) return;
    const { line, amount, next } = found.first;
    const others = found.cuts === 1 ? "" : ` (and ${found.cuts - 1} more such lines)`;
    doubt(accepted, ["whole-amounts"], {
      text: `${name}: line ${line}${others}: the amount ${JSON.stringify(amount)} has no decimals, where others have some, and ${JSON.stringify(next)} follows it: one number that lost its quotes`,
      instead: ["put it in quotes"],
      details: { file: name, line, lines: found.cuts },
    });
  }

  #goesOn(fields: readonly string[], column: Column): boolean {
    let at = column.at + 1;
    const isFree = (): boolean => at < fields.length && !this.#named.has(at);
    while (isFree() && column.parts.between.test(fields[at] ?? "")) at += 1;
    return isFree() && column.parts.last.test((fields[at] ?? "").trim());
  }
}
