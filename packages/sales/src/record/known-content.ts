/**
 * What a file's content has to do with what was imported before.
 *
 * Identity is the content's hash, how it is read, the restaurant it is imported for, if the file does not name them itself, and the line's
 * number: two restaurants may well have sold the same. A content that begins with a known one is that file, grown; one that differs from a
 * known one in the lines that were bad is that file, mended: what is known of it is not recorded again. What cannot be told apart safely is
 * refused, because recording it would count sales twice.
 */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import { type Fingerprint, fingerprintFile, name } from "../read/content.ts";
import { hashGoodLines } from "./good-lines.ts";
import {
  type ContentScope,
  findByContent,
  findContentLengths,
  findContinuation,
  findWithBadLines,
  isUndone,
  type KnownImport,
} from "./known-imports.ts";
import { isSameReading, type Reading, titleLinesOf } from "./reading.ts";

/** Lines of a file that an import has recorded already, read in the same way. */
export interface KnownLines {
  readonly by: KnownImport;
  /** All up to this one are known, */
  readonly lineCount: number;
  /** but these: they were bad, or half of a line. */
  readonly except: ReadonlySet<number>;
  /** The last of them, if its end had not been written yet. */
  readonly half: number | undefined;
}

export interface KnownContent {
  readonly print: Fingerprint;
  readonly scope: ContentScope;
  /** The import that has recorded this very content. */
  readonly same: KnownImport | undefined;
  readonly known: KnownLines | undefined;
  /** Imports of this content, or of a beginning of it, that read it in another way. */
  readonly otherwise: readonly KnownImport[];
}

export interface KnownContentOptions {
  readonly file: string;
  readonly titleLines: number;
  readonly scope: ContentScope;
  readonly reading: Reading;
  /** Whether its lines have ids: then they tell what is known of it. */
  readonly hasIds: boolean;
  readonly signal: AbortSignal | undefined;
  readonly accepted: ReadonlySet<Acceptance>;
  readonly onRead: (bytes: number) => void;
}

/** Reads the file once and compares it. Throws ImportFault `in_doubt`, `file_empty`, `file_unreadable`, `file_encoding`; SqlFault. */
export async function findKnownContent(session: Session, options: KnownContentOptions): Promise<KnownContent> {
  const { file, titleLines, scope, reading, signal, onRead } = options;
  const byteCounts = await findContentLengths(session, scope);
  const print = await fingerprintFile({ file, signal }, { byteCounts, titleLines, onRead });
  const hashes = [...print.beginnings.values()].map(({ contentHash }) => contentHash);
  const all = await findByContent(session, scope, hashes);
  const alike = all.filter((each) => isSameReading(each.reading ?? undefined, reading));
  const content = { print, scope, otherwise: all.filter((each) => !alike.includes(each)) };
  const same = alike.find(({ contentHash }) => contentHash === print.contentHash);
  if (same !== undefined) return { ...content, same, known: undefined };
  const known = (await findMended(session, options, print)) ?? (await findGrown(session, options, { print, alike }));
  if (known === undefined && all.length === 0) await assertNoOverlap(session, options, print);
  return { ...content, same, known };
}

/** The file with other lines where it had bad ones. */
async function findMended(
  session: Session,
  { file, scope, reading, signal, accepted }: KnownContentOptions,
  print: Fingerprint,
): Promise<KnownLines | undefined> {
  const withBad = await findWithBadLines(session, scope, print.lineCount);
  const candidates = withBad
    .filter((each) => isSameReading(each.reading ?? undefined, reading))
    .map((by) => ({ by, lineCount: Number(by.lineCount), except: new Set(by.badLines.map(Number)), half: undefined }));
  if (candidates.length === 0) return undefined;
  const hashes = await hashGoodLines({ file, signal }, candidates);
  const mended = candidates.filter(({ by }, index) => hashes[index] === by.goodHash);
  const [most] = mended.toSorted((one, other) => other.lineCount - one.lineCount);
  if (most === undefined || print.beginnings.get(Number(most.by.byteCount))?.contentHash === most.by.contentHash) {
    return undefined;
  }
  return isSameFile(accepted, { file, known: most, what: "mended" }) ? most : undefined;
}

/** The file with further lines, or with the rest of its last one. */
async function findGrown(
  session: Session,
  { file, accepted }: KnownContentOptions,
  { print, alike: [by] }: { readonly print: Fingerprint; readonly alike: readonly KnownImport[] },
): Promise<KnownLines | undefined> {
  if (by === undefined) return undefined;
  const lineCount = Number(by.lineCount);
  const isWrittenOn = print.beginnings.get(Number(by.byteCount))?.endsLine !== true;
  const half = isWrittenOn ? lineCount : undefined;
  const known = { by, lineCount, except: new Set(half === undefined ? [] : [half]), half };
  if (!isSameFile(accepted, { file, known, what: "grown" })) return undefined;
  const other = isWrittenOn && by.endsLine ? undefined : await findContinuation(session, by);
  if (other === undefined && (!isWrittenOn || !by.endsLine)) return known;
  const fact =
    other === undefined
      ? `line ${lineCount} was written on since`
      : `that file has since grown to ${other.lineCount} lines that are not these`;
  doubt(accepted, isComparing, {
    text: `${name(file)}: begins with ${lines(known)} of ${by.name}, which were imported, but ${fact}`,
    instead: ["put what is new into a file of its own"],
    details: { file, source: by.source, lines: by.lineCount },
  });
  return undefined;
}

/** What is said by whoever has seen that lines are recorded already: each is compared by what it says. */
const isComparing = ["only-new", "allow-overlap"] as const;

/** Two tills may well begin with the same few sales. */
const accidentLines = 20;

type What = "grown" | "mended";

/** Throws where that is in doubt. */
function isSameFile(
  accepted: ReadonlySet<Acceptance>,
  { file, known, what }: { readonly file: string; readonly known: KnownLines; readonly what: What },
): boolean {
  const { by, lineCount, except } = known;
  if (by.name === name(file) || lineCount - except.size > accidentLines || accepted.has("grown")) return true;
  if (isComparing.some((each) => accepted.has(each))) return false;
  doubt(accepted, ["grown"], {
    text: `${name(file)}: ${what === "grown" ? "begins with" : "has"} ${lines(known)} of ${by.name}, and may be that file, ${what}, or another one`,
    instead: ["if it is another one, name where both come from with --source"],
    details: { file, name: by.name, lines: by.lineCount },
  });
  return true;
}

/** Without the header and what stands before it. */
function lines({ by: { reading }, lineCount, except }: KnownLines): string {
  const all = lineCount - 1 - titleLinesOf(reading);
  const count = all - except.size;
  if (count === 1 && except.size === 0) return "the only line";
  return except.size === 0 ? `all ${count} lines` : `${count} of the ${all} lines`;
}

/**
 * Throws if a file that was imported for the same restaurant, or with a column that names it, begins like this one for more than half of the shorter of the two: then this is an
 * older copy of it, an edited one, or the file itself with its restaurant given in another way.
 *
 * Half, because hashes are kept of 1, 2, 4, 8… lines only; and files of one till that merely begin alike are different ones.
 */
async function assertNoOverlap(
  session: Session,
  { file, scope: { restaurantId, feed }, hasIds, accepted }: KnownContentOptions,
  print: Fingerprint,
): Promise<void> {
  if (hasIds) return;
  const rows = await session.query<{ name: string; lineCount: bigint; lines: number }>(
    `select name, line_count as "lineCount", 1 << (cardinality(common.part) - 1) as lines
     from sales.import, lateral (select line_hashes[:cardinality($1::text[])] as part) as common
     where (restaurant_id = $2 or restaurant_id is null or $2::text is null) and feed = $3 and not ${isUndone}
       and common.part[cardinality(common.part)] = ($1::text[])[cardinality(common.part)]
     order by id limit 1`,
    [print.lineHashes, restaurantId, feed],
  );
  const [other] = rows;
  if (other === undefined) return;
  doubt(accepted, isComparing, {
    text: `${name(file)}: begins with the same ${other.lines} lines as ${other.name}, whose ${other.lineCount - 1n} lines were imported, and is an older or an edited copy`,
    instead: ["put what is new into a file of its own"],
    details: { file, name: other.name, lines: other.lines },
  });
}
