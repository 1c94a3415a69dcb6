/** Columns that no option names, and that look like something which changes what the lines come to: a status, a currency, a time. */

/** Lines whose fields are looked at. */
const maxLines = 1_000;
const maxValues = 4;

interface Kind {
  readonly header: RegExp;
  /** A value that says so, wherever it stands. */
  readonly some?: RegExp;
  /** What all values are like, where there are any. */
  readonly every?: (value: string) => boolean;
  readonly remedy: string;
}

const currencies = new Set(Intl.supportedValuesOf("currency"));

const kinds: Readonly<Record<"status" | "currency" | "time", Kind>> = {
  status: {
    header: /status|cancel|void|refund|storn|annul|\breturned\b/iu,
    some: /^(?:cancell?ed|void(?:ed)?|refund(?:ed)?|failed|declined|rejected|returned|charge ?back|storniert|storno|annul(?:é|ée|ato|ado)?)$/iu,
    remedy: "if some of these lines are no sales, leave them out with --only or --except",
  },
  currency: {
    header: /currency|\bccy\b/iu,
    every: (value) => currencies.has(value),
    remedy:
      "amounts in another currency are another restaurant's; say --currency-column, or import them apart, with --only",
  },
  time: {
    header: /\btime\b|uhrzeit|\bheure\b|\bhora\b/iu,
    every: (value) => /^\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?$/iu.test(value),
    remedy: "if it is the time of a sale, say --time-column; without one no cutoff applies",
  },
};

interface Column {
  readonly name: string;
  readonly index: number;
  readonly values: Set<string>;
  isTime: boolean;
  isCurrency: boolean;
  hasStatus: boolean;
}

export class UnusedColumns {
  readonly #hasTime: boolean;
  #columns: readonly Column[] = [];
  #lines = 0;

  /** `hasTime`: the date says the time already. */
  constructor({ hasTime }: { readonly hasTime: boolean }) {
    this.#hasTime = hasTime;
  }

  begin(header: readonly string[], used: ReadonlySet<number>): void {
    const all = header.map((name, index) => ({ name, index, values: new Set<string>() }));
    this.#columns = all
      .filter(({ index, name }) => !used.has(index) && name !== "")
      .map((column) => ({ ...column, isTime: true, isCurrency: true, hasStatus: false }));
  }

  /** The fields of a line, in the order of the header. */
  take(fields: readonly string[]): void {
    if (this.#lines >= maxLines) return;
    this.#lines += 1;
    for (const column of this.#columns) {
      const value = (fields[column.index] ?? "").trim();
      if (value === "") continue;
      if (column.values.size < maxValues) column.values.add(value.slice(0, 40));
      column.hasStatus ||= kinds.status.some?.test(value) === true;
      column.isCurrency &&= kinds.currency.every?.(value) === true;
      column.isTime &&= kinds.time.every?.(value) === true;
    }
  }

  get warnings(): readonly string[] {
    return this.#columns.flatMap((column) => {
      const kind = this.#kindOf(column);
      if (kind === undefined) return [];
      const values = [...column.values].map((value) => JSON.stringify(value)).join(", ");
      const fact = column.values.size === 0 ? "" : `, and says ${values}`;
      return [`column ${JSON.stringify(column.name)} is not used${fact}; ${kinds[kind].remedy}`];
    });
  }

  #kindOf({ name, values, hasStatus, isCurrency, isTime }: Column): keyof typeof kinds | undefined {
    if (hasStatus || kinds.status.header.test(name)) return "status";
    if ((values.size > 0 && isCurrency) || kinds.currency.header.test(name)) return "currency";
    if (this.#hasTime) return undefined;
    return (values.size > 0 && isTime) || kinds.time.header.test(name) ? "time" : undefined;
  }
}
