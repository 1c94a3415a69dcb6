/**
 * What a migration locks, and what it reads or writes whole meanwhile: found in the text of its statements, so that it can be told
 * before anything is run, and taken at once instead of one by one. A test holds it to what the server really locks.
 */

/** A table that stands before the migration and is locked by it until its end. */
export interface TableLock {
  /** As `schema.table`. */
  readonly table: string;
  /** Nobody reads, or nobody writes meanwhile. */
  readonly mode: "access exclusive" | "share row exclusive";
  /** An index is built, or rows are changed: it takes as long as the table is large. Otherwise it takes a moment. */
  readonly whole: boolean;
}

const name = String.raw`((?:nightwriter|sales)\.\w+)`;

const kinds: readonly { readonly text: RegExp; readonly mode: TableLock["mode"]; readonly whole: RegExp }[] = [
  {
    text: new RegExp(String.raw`^alter table (?:only )?${name}`),
    mode: "access exclusive",
    whole: /\badd (?:constraint \w+ )?(?:primary key|unique)\b|\balter (?:column )?\w+ type\b/,
  },
  {
    text: new RegExp(String.raw`^select nightwriter\.require_stamps\('${name}'\)`),
    mode: "access exclusive",
    whole: /$^/,
  },
  { text: new RegExp(String.raw`^drop trigger \w+ on ${name}`), mode: "access exclusive", whole: /$^/ },
  { text: new RegExp(String.raw`^drop table ${name}`), mode: "access exclusive", whole: /$^/ },
  {
    text: new RegExp(String.raw`^create (?:constraint )?trigger [^$]*? on ${name}`),
    mode: "share row exclusive",
    whole: /$^/,
  },
  { text: new RegExp(String.raw`^create (?:unique )?index \w+ on ${name}`), mode: "share row exclusive", whole: /^/ },
  {
    text: new RegExp(String.raw`^(?:update|delete from|insert into) ${name}`),
    mode: "share row exclusive",
    whole: /^/,
  },
  { text: new RegExp(String.raw`references ${name}`), mode: "share row exclusive", whole: /$^/ },
];

const made = new RegExp(String.raw`^create table (?:if not exists )?${name}`);

/** The locks of these statements on tables that they do not make themselves, each table once, in the order of names. */
export function locksOf(statements: readonly string[]): readonly TableLock[] {
  const own = new Set(statements.flatMap((statement) => made.exec(statement)?.[1] ?? []));
  const locks = new Map<string, TableLock>();
  for (const statement of statements.map((each) => each.trim().replaceAll(/\s+/g, " "))) {
    for (const { text, mode, whole } of kinds) {
      const table = text.exec(statement)?.[1];
      if (table === undefined || own.has(table)) continue;
      locks.set(table, stronger(locks.get(table), { table, mode, whole: whole.test(statement) }));
    }
  }
  return [...locks.values()].toSorted((one, other) => (one.table < other.table ? -1 : 1));
}

function stronger(one: TableLock | undefined, other: TableLock): TableLock {
  if (one === undefined) return other;
  const mode = [one.mode, other.mode].includes("access exclusive") ? "access exclusive" : "share row exclusive";
  return { table: other.table, mode, whole: one.whole || other.whole };
}
