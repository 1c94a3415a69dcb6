/** Which lines of a file are sales, by what columns say of them. */

/** A column, whatever its case, and what it says: blanks around it and the way an accent is written do not count. */
export interface ColumnValue {
  readonly column: string;
  readonly value: string;
}

export interface RowFilterOptions {
  /** Lines that say otherwise are left out. Several values of a column are alternatives; of several columns, all must say so. */
  readonly only?: readonly ColumnValue[];
  /** Lines that say one of these are left out. */
  readonly except?: readonly ColumnValue[];
}

/** A value that no line had. */
export interface UnseenValue extends ColumnValue {
  readonly option: "only" | "except";
  /** Some of those that there are, the most frequent first. */
  readonly instead: readonly string[];
}

/** Values of a column that are remembered, to be named. */
const maxValues = 100;
const maxNamed = 8;

type Condition = {
  readonly column: string;
  readonly only: ReadonlySet<string>;
  readonly except: ReadonlySet<string>;
  readonly seen: Map<string, number>;
};

export class RowFilter {
  readonly #options: RowFilterOptions;
  readonly #conditions: readonly Condition[];

  constructor(options: RowFilterOptions) {
    this.#options = options;
    const { only = [], except = [] } = options;
    const columns = new Map([...only, ...except].map(({ column }) => [plainColumn(column), column]));
    this.#conditions = Array.from(columns, ([plain, column]) => ({
      column,
      only: valuesOf(only, plain),
      except: valuesOf(except, plain),
      seen: new Map(),
    }));
  }

  /** Those that {@link keeps} needs, in its order. None: every line is kept. */
  get columns(): readonly string[] {
    return this.#conditions.map(({ column }) => column);
  }

  keeps(fields: readonly string[]): boolean {
    let isKept = true;
    for (const [index, { only, except, seen }] of this.#conditions.entries()) {
      const value = plainValue(fields[index] ?? "");
      const count = seen.get(value);
      if (count !== undefined || seen.size < maxValues || only.has(value) || except.has(value)) {
        seen.set(value, (count ?? 0) + 1);
      }
      if (except.has(value) || (only.size > 0 && !only.has(value))) isKept = false;
    }
    return isKept;
  }

  /** Whether `except` names what one of the fields says, whatever else is wrong with the line. */
  excepts(fields: readonly string[]): boolean {
    return this.#conditions.some(({ except }, index) => except.has(plainValue(fields[index] ?? "")));
  }

  /** The values that were asked for and that a line had, by column. */
  get seen(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries(
      this.#conditions.map(({ column, only, except, seen }) => [
        plainColumn(column),
        [...only, ...except].filter((value) => seen.has(value)).toSorted(),
      ]),
    );
  }

  /** Those that no line had. */
  get unseen(): readonly UnseenValue[] {
    return (["only", "except"] as const).flatMap((option) =>
      (this.#options[option] ?? []).flatMap(({ column, value }) => {
        const seen = this.#conditions.find((each) => plainColumn(each.column) === plainColumn(column))?.seen;
        if (seen === undefined || seen.has(plainValue(value))) return [];
        const byCount = [...seen].toSorted(([, one], [, other]) => other - one);
        return [{ option, column, value, instead: byCount.slice(0, maxNamed).map(([text]) => text) }];
      }),
    );
  }
}

function valuesOf(all: readonly ColumnValue[], column: string): Set<string> {
  return new Set(all.filter((each) => plainColumn(each.column) === column).map(({ value }) => plainValue(value)));
}

export function plainColumn(name: string): string {
  return name.normalize("NFC").trim().toLowerCase();
}

export function plainValue(value: string): string {
  return value.normalize("NFC").trim();
}
