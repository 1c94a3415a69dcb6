/**
 * What a file's content has to do with what was imported before.
 *
 * Identity is the content's hash, the restaurant it is imported for, if the file does not name them itself, and the line's
 * number: two restaurants may well have sold the same. Within one restaurant, the same content is known whole. A content
 * that begins with a known one is that file, grown: its old lines are known, and its new ones are recorded under the same
 * source. What cannot be told apart safely is refused, because recording it would count sales twice.
 */
import { invariant } from "@nightwriter/core";
import type { Database, Schema, Session } from "@nightwriter/database";
import { type Kysely, sql } from "kysely";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import { ImportFault } from "../import-fault.ts";
import { type Fingerprint, fingerprintFile, name } from "../read/content.ts";
import type { SalesSchema } from "../schema.ts";

type SalesDatabase = Kysely<Schema & SalesSchema>;

type ImportFile = {
  readonly contentHash: string;
  readonly byteCount: bigint;
  readonly lineCount: bigint;
  readonly name: string;
  readonly source: string;
  readonly importedAt: Date;
};

/** `known` is the longest beginning that was imported: the whole content, a part of it, or undefined for a new file. */
export type KnownContent = {
  readonly print: Fingerprint;
  readonly restaurantId: string | null;
  readonly feed: string;
  readonly known: ImportFile | undefined;
};

export interface KnownContentOptions {
  readonly file: string;
  /** Whose sales the file has; null if a column says so. */
  readonly restaurantId: string | null;
  /** Where it comes from, if its restaurant has several such: what others sent is another file. */
  readonly feed: string;
  /** Whether its lines have ids: then they tell what is known of it. */
  readonly hasIds: boolean;
  readonly signal: AbortSignal | undefined;
  readonly accepted: ReadonlySet<Acceptance>;
  readonly onRead: (bytes: number) => void;
}

/** Reads the file once and compares it. Throws ImportFault `file_changed`, `in_doubt`, `file_empty`, `file_unreadable`, `file_encoding`; SqlFault. */
export async function findKnownContent(
  session: Session,
  { db: core }: Database,
  { file, restaurantId, feed, hasIds, signal, accepted, onRead }: KnownContentOptions,
): Promise<KnownContent> {
  const db = core.withTables<SalesSchema>();
  const lengths = await session.run(
    db
      .selectFrom("sales.import")
      .select("byte_count")
      .distinct()
      .where("restaurant_id", "is not distinct from", restaurantId)
      .where("feed", "=", feed)
      .where("byte_count", "is not", null)
      .orderBy("byte_count")
      .compile(),
  );
  const byteCounts = lengths.rows.map((row) => Number(row.byte_count));
  const print = await fingerprintFile({ file, signal }, { byteCounts, onRead });
  const hashes = [...print.beginnings.values()].map((each) => each.contentHash);
  const files = await session.run(
    db
      .selectFrom("sales.import")
      .select([
        "content_hash as contentHash",
        "byte_count as byteCount",
        "line_count as lineCount",
        "name",
        "source",
        "imported_at as importedAt",
      ])
      .where("restaurant_id", "is not distinct from", restaurantId)
      .where("feed", "=", feed)
      .where("content_hash", "=", sql<string>`any(${hashes}::text[])`)
      .orderBy("byte_count", "desc")
      .limit(1)
      .$narrowType<{ contentHash: string; byteCount: bigint; lineCount: bigint }>()
      .compile(),
  );
  const [known] = files.rows;
  if (known === undefined && !hasIds) await assertNoOverlap(session, { file, restaurantId, feed, print, accepted });
  if (known !== undefined && known.contentHash !== print.contentHash) {
    assertSameFile(accepted, { file, known });
    await assertGrown(session, db, { file, print, known });
  }
  return { print, restaurantId, feed, known };
}

/** Two tills may well begin with the same few sales. */
const accidentLines = 20n;

function assertSameFile(accepted: ReadonlySet<Acceptance>, { file, known }: { file: string; known: ImportFile }): void {
  if (known.name === name(file) || known.lineCount > accidentLines) return;
  const lines = known.lineCount - 1n;
  doubt(accepted, ["grown"], {
    text: `${name(file)}: begins with ${lines === 1n ? "the only line" : `all ${lines} lines`} of ${known.name}, and may be that file, grown, or another one`,
    instead: ["if it is another one, name where both come from with --source"],
    details: { file, name: known.name, lines },
  });
}

/** Throws unless the new part begins on a line of its own and is the only one that this file ever grew. */
async function assertGrown(
  session: Session,
  db: SalesDatabase,
  { file, print, known }: { file: string; print: Fingerprint; known: ImportFile },
): Promise<void> {
  const before = `its first ${known.lineCount} lines were imported from ${known.name}`;
  const details = { file, source: known.source, lines: known.lineCount };
  if (print.beginnings.get(Number(known.byteCount))?.endsLine !== true) {
    throw new ImportFault(
      "file_changed",
      `${name(file)}: ${before}, but line ${known.lineCount} was written on since; put what is new into a file of its own`,
      { details },
    );
  }
  const longer = await session.run(
    db
      .selectFrom("sales.import")
      .select(["name", "line_count"])
      .where("source", "=", known.source)
      .where("byte_count", ">", known.byteCount)
      .orderBy("byte_count")
      .limit(1)
      .compile(),
  );
  const [other] = longer.rows;
  if (other === undefined) return;
  throw new ImportFault(
    "file_changed",
    `${name(file)}: ${before}, which has since grown to ${other.line_count} lines that are not these; put what is new into a file of its own`,
    { details },
  );
}

/**
 * Throws if a file that was imported for the same restaurant, or with a column that names it, begins like this one for more than half of the shorter of the two: then this is an
 * older copy of it, an edited one, or the file itself with its restaurant given in another way.
 *
 * Half, because hashes are kept of 1, 2, 4, 8… lines only; and files of one till that merely begin alike are different ones.
 */
async function assertNoOverlap(
  session: Session,
  {
    file,
    restaurantId,
    feed,
    print,
    accepted,
  }: Pick<KnownContentOptions, "file" | "restaurantId" | "feed" | "accepted"> & { readonly print: Fingerprint },
): Promise<void> {
  const rows = await session.query<{ name: string; lineCount: bigint; lines: number }>(
    `select name, line_count as "lineCount", 1 << (cardinality(common.part) - 1) as lines
     from sales.import, lateral (select line_hashes[:cardinality($1::text[])] as part) as common
     where (restaurant_id = $2 or restaurant_id is null or $2::text is null) and feed = $3
       and common.part[cardinality(common.part)] = ($1::text[])[cardinality(common.part)]
     order by id limit 1`,
    [print.lineHashes, restaurantId, feed],
  );
  const [other] = rows;
  if (other === undefined) return;
  doubt(accepted, ["only-new", "allow-overlap"], {
    text: `${name(file)}: begins with the same ${other.lines} lines as ${other.name}, whose ${other.lineCount} lines were imported, and is an older or an edited copy`,
    instead: ["put what is new into a file of its own"],
    details: { file, name: other.name, lines: other.lines },
  });
}

/** The number of an import that is about to be, and the source that its sales get. Numbers of imports that come to nothing are not used again. */
export async function reserveImport(session: Session, known: ImportFile | undefined): Promise<ReservedImport> {
  const [row] = await session.query<{ id: bigint }>("select nextval('sales.import_id_seq') as id");
  invariant(row !== undefined, "a sequence has a next value");
  return { id: row.id, source: known?.source ?? `file:${row.id}` };
}

export interface ReservedImport {
  readonly id: bigint;
  readonly source: string;
}

interface RememberedImport {
  readonly file: string;
  readonly content: KnownContent;
  readonly reserved: ReservedImport;
  readonly recorded: {
    /** Sales of the file, and what became of them. */
    readonly kept: number;
    readonly added: number;
    readonly known: number;
    readonly corrected: number;
    readonly skipped: number;
    readonly sums: ReadonlyMap<string, bigint>;
    readonly businessDates: readonly Temporal.PlainDate[];
    readonly newest: string | undefined;
  };
}

/** Records that a content was imported, and what it came to. */
export async function rememberContent(
  session: Session,
  { db }: Database,
  { file, content, reserved, recorded }: RememberedImport,
): Promise<void> {
  const { print, restaurantId, feed, known } = content;
  await session.run(
    db
      .withTables<SalesSchema>()
      .insertInto("sales.import")
      .values({
        id: reserved.id,
        restaurant_id: restaurantId,
        feed,
        content_hash: print.contentHash,
        byte_count: BigInt(print.byteCount),
        line_count: BigInt(print.lineCount),
        line_hashes: [...print.lineHashes],
        name: name(file),
        source: reserved.source,
        first_line: (known?.lineCount ?? 0n) + 1n,
        last_line: print.lineCount,
        ends_line: print.endsLine,
        kept: recorded.kept,
        added: recorded.added,
        known: recorded.known,
        corrected: recorded.corrected,
        skipped: recorded.skipped,
        sums: JSON.stringify(Object.fromEntries(Array.from(recorded.sums, ([code, minor]) => [code, String(minor)]))),
        first_date: recorded.businessDates[0]?.toString() ?? null,
        last_date: recorded.businessDates.at(-1)?.toString() ?? null,
        newest: recorded.newest ?? null,
      })
      .compile(),
  );
}
