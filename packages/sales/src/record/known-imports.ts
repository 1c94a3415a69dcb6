/** Imports whose content may be what a file begins with. */
import type { Session } from "@nightwriter/database";
import type { Reading } from "./reading.ts";

/** An import that is in force: not undone, or its undo was. */
export interface KnownImport {
  readonly id: bigint;
  readonly contentHash: string;
  readonly byteCount: bigint;
  /** The header counts, and what stands before it. */
  readonly lineCount: bigint;
  readonly name: string;
  readonly source: string;
  readonly importedAt: Date;
  /** False: its last line may have been half of one. */
  readonly endsLine: boolean;
  /** Lines that were left out because they were bad, of this import and of those that it continues. */
  readonly badLines: readonly bigint[];
  /** Of the content without them; null: there were none, or too many. */
  readonly goodHash: string | null;
  /** Null: imported by a build that did not note it. */
  readonly reading: Reading | null;
  /** How many bad lines it left out, and where they are. */
  readonly skipped: bigint;
  readonly skipFile: string | null;
  /** Business dates of what it recorded. */
  readonly firstDate: string | null;
  readonly lastDate: string | null;
}

/** For whom and from where a file is imported; contents are compared within that. */
export interface ContentScope {
  /** Null: a column of the file says so. */
  readonly restaurantId: string | null;
  readonly feed: string;
}

/** As SQL, of a row `import` of sales.import: whether it is undone, by an undo that is not undone itself. */
export const isUndone: string = `exists (
  with recursive undo as (
    select 0 as depth, import.id
    union all select undo.depth + 1, next.id from undo join sales.import next on next.undoes = undo.id
  ) select from undo having max(depth) % 2 = 1)`;

const columns = `id, content_hash as "contentHash", byte_count as "byteCount", line_count as "lineCount", name, source,
  imported_at as "importedAt", ends_line as "endsLine", bad_lines as "badLines", good_hash as "goodHash", reading, skipped,
  skip_file as "skipFile", first_date::text as "firstDate", last_date::text as "lastDate"`;
const inScope = `restaurant_id is not distinct from $1 and feed = $2 and undoes is null`;

/** The lengths of contents that were imported, shortest first. */
export async function findContentLengths(session: Session, { restaurantId, feed }: ContentScope): Promise<number[]> {
  const rows = await session.query<{ length: bigint }>(
    `select distinct byte_count as length from sales.import where ${inScope} order by length`,
    [restaurantId, feed],
  );
  return rows.map(({ length }) => Number(length));
}

/** Those with one of these contents, the longest first, and of equal ones the last. */
export async function findByContent(
  session: Session,
  { restaurantId, feed }: ContentScope,
  hashes: readonly string[],
): Promise<KnownImport[]> {
  return session.query<KnownImport>(
    `select ${columns} from sales.import
     where ${inScope} and content_hash = any($3::text[]) and not ${isUndone}
     order by byte_count desc, id desc`,
    [restaurantId, feed, hashes],
  );
}

/** The last ones that left bad lines out which may be mended by now, of no more lines than that. */
export async function findWithBadLines(
  session: Session,
  { restaurantId, feed }: ContentScope,
  lineCount: number,
): Promise<KnownImport[]> {
  return session.query<KnownImport>(
    `select ${columns} from sales.import
     where ${inScope} and good_hash is not null and line_count <= $3 and not ${isUndone}
     order by id desc limit 20`,
    [restaurantId, feed, lineCount],
  );
}

/** One that continues this one's file. */
export async function findContinuation(
  session: Session,
  { id }: KnownImport,
): Promise<{ readonly name: string; readonly lineCount: bigint } | undefined> {
  const [row] = await session.query<{ name: string; lineCount: bigint }>(
    `select name, line_count as "lineCount" from sales.import where continues = $1 and not ${isUndone} order by id limit 1`,
    [id],
  );
  return row;
}

/** The sources of these imports and of those that they continue. */
export async function findSources(session: Session, imports: readonly KnownImport[]): Promise<string[]> {
  const rows = await session.query<{ source: string }>(
    `with recursive earlier as (
       select id, continues, source from sales.import where id = any($1::bigint[])
       union select import.id, import.continues, import.source from earlier join sales.import on import.id = earlier.continues
     ) select distinct source from earlier`,
    [imports.map(({ id }) => id)],
  );
  return rows.map(({ source }) => source);
}
