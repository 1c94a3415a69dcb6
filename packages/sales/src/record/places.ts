/** Where the lines of a file were recorded by imports of it, and whether that was done in another way. */
import type { Session } from "@nightwriter/database";
import { doubt } from "../doubt.ts";
import { findSources, type KnownImport } from "./known-imports.ts";
import { describeDifferences, type Reading } from "./reading.ts";

/** Where lines of a file are recorded, each under its own number. */
export interface Places {
  readonly sources: readonly string[];
  readonly dates: readonly string[];
}

/** The places of what these imports and those that they continue have recorded; `recordedDates` are all that have sales. */
export async function findPlaces(
  session: Session,
  imports: readonly KnownImport[],
  recordedDates: ReadonlySet<string>,
): Promise<Places> {
  if (imports.length === 0) return { sources: [], dates: [] };
  const sources = await findSources(session, imports);
  const rows = await session.query<{ first: string | null; last: string | null }>(
    "select first_date::text as first, last_date::text as last from sales.import where source = any($1::text[]) and undoes is null",
    [sources],
  );
  const dates = [...recordedDates].filter((date) =>
    rows.some(({ first, last }) => (first ?? date) <= date && date <= (last ?? date)),
  );
  return { sources, dates: dates.toSorted() };
}

export interface ReadOtherwise {
  readonly name: string;
  readonly reading: Reading;
  readonly otherwise: readonly KnownImport[];
  readonly recordedDates: ReadonlySet<string>;
  /** SQL: the numbers of the lines that are to be recorded, as source_line. Uses $1, the import's own source, and $2, their dates. */
  readonly lines: string;
  readonly source: string;
  readonly lineDates: readonly string[];
}

/** Throws ImportFault `in_doubt` if an import has recorded one of the lines, and read it in another way. */
export async function assertReadOnce(session: Session, options: ReadOtherwise): Promise<void> {
  const { name, reading, otherwise, recordedDates, lines, source, lineDates } = options;
  for (const other of otherwise) {
    const { sources, dates } = await findPlaces(session, [other], recordedDates);
    const [row] = await session.query<{ count: bigint }>(
      `select count(*) as count from (${lines}) as line where source_line in (
         select source_line from sales.sale where source = any($3::text[]) and business_date = any($4::date[]))`,
      [source, lineDates, sources, dates],
    );
    const count = row?.count ?? 0n;
    if (count === 0n) continue;
    const date = other.importedAt.toISOString().slice(0, 10);
    doubt(new Set(), [], {
      text: `${name}: ${count === 1n ? "1 of its lines was" : `${count} of its lines were`} recorded on ${date} by import ${other.id}, which read them in another way: ${describeDifferences(other.reading ?? {}, reading)}`,
      instead: [`read them as before, or take that import back first: nightwriter imports undo ${other.id}`],
      details: { file: name, import: other.id, lines: count },
    });
  }
}
