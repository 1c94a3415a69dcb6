/**
 * A file's content: read in bounded pieces, decompressed when it is gzip, known by the SHA-256 of what it says, however
 * its lines end.
 *
 * A file is read twice. The first reading finds out whether this content, or its beginning, was imported before; only
 * the second one parses. In between, a till may have written more: the second reading ends where the first one did, and
 * must come to the same hash.
 */
import { createHash } from "node:crypto";
import { ImportFault } from "../import-fault.ts";
import { type Found, name, readBytes } from "./file-bytes.ts";
import { plainContent } from "./plain-content.ts";

const newline = 0x0a;

/** Reads what the file says, as {@link plainContent} puts it. Throws ImportFault `file_unreadable`. */
export function readContent(
  file: { readonly file: string; readonly signal?: AbortSignal | undefined },
  { found, onEnd }: { readonly found?: Found; readonly onEnd?: (endsLine: boolean) => void } = {},
): AsyncGenerator<Buffer> {
  return plainContent(readBytes(file, found), onEnd);
}

export { name } from "./file-bytes.ts";

/** A beginning of the content, `byteCount` long. */
export interface Beginning {
  readonly contentHash: string;
  /** Whether its last line ends here, too. If not, that line was written on. */
  readonly endsLine: boolean;
}

export interface Fingerprint {
  /** SHA-256 of the content, in hexadecimal. */
  readonly contentHash: string;
  /** Of the content, not of the file. */
  readonly byteCount: number;
  readonly lineCount: number;
  /** SHA-256 over the header and the first 1, 2, 4, 8… lines, the line end of the last one left out. */
  readonly lineHashes: readonly string[];
  /** By byte count: the beginnings that were asked for. */
  readonly beginnings: ReadonlyMap<number, Beginning>;
  /** Whether the file ends with a line end; without one, its last line may be half of one. */
  readonly endsLine: boolean;
  /** Whether the file is UTF-16; its content is UTF-8 then. */
  readonly isUtf16: boolean;
}

interface FingerprintOptions {
  /** The lengths of beginnings that may be known, shortest first. */
  readonly byteCounts?: readonly number[];
  /** Lines before the header. */
  readonly titleLines?: number;
  readonly onRead?: (bytes: number) => void;
}

/** Reads a whole file once. Throws ImportFault `file_unreadable`, `file_encoding` or `file_empty`. */
export async function fingerprintFile(
  { file, signal }: { readonly file: string; readonly signal?: AbortSignal | undefined },
  { byteCounts = [], titleLines = 0, onRead = () => {} }: FingerprintOptions = {},
): Promise<Fingerprint> {
  let endsLine = true;
  const found: Found = { isUtf16: false };
  const onEnd = (ends: boolean): void => {
    endsLine = ends;
  };
  const content = readContent({ file, signal }, { found, onEnd });
  const print = await fingerprint(counted(content, onRead), { byteCounts, titleLines });
  if (print.byteCount > 0) return { ...print, endsLine, ...found };
  throw new ImportFault("file_empty", `${name(file)}: is empty; it needs a header at least`, { details: { file } });
}

async function* counted(content: AsyncIterable<Buffer>, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    onRead(piece.length);
    yield piece;
  }
}

/** Reads the whole of a {@link plainContent} once. */
export async function fingerprint(
  content: AsyncIterable<Buffer>,
  { byteCounts = [], titleLines = 0 }: Omit<FingerprintOptions, "onRead"> = {},
): Promise<Omit<Fingerprint, "endsLine" | "isUtf16">> {
  const printer = new Printer(byteCounts, titleLines);
  for await (const piece of content) printer.take(piece);
  return printer.print();
}

class Printer {
  readonly #hash = createHash("sha256");
  readonly #byteCounts: readonly number[];
  readonly #beginnings = new Map<number, Beginning>();
  readonly #lineHashes: string[] = [];
  readonly #titleLines: number;
  #next = 0;
  #byteCount = 0;
  #newlines = 0;
  /** A beginning of which it is not known yet what follows it. */
  #open: { readonly at: number; readonly contentHash: string } | undefined;

  constructor(byteCounts: readonly number[], titleLines: number) {
    this.#byteCounts = byteCounts;
    this.#titleLines = titleLines;
  }

  take(piece: Buffer): void {
    if (this.#open !== undefined) {
      const { at, contentHash } = this.#open;
      this.#beginnings.set(at, { contentHash, endsLine: piece[0] === newline });
      this.#open = undefined;
    }
    const lineEnds = this.#markedLineEnds(piece);
    const lengths = this.#markedLengths(piece);
    let hashed = 0;
    for (const at of [...lineEnds.union(lengths)].toSorted((one, other) => one - other)) {
      this.#hash.update(piece.subarray(hashed, at));
      hashed = at;
      const contentHash = this.#hash.copy().digest("hex");
      if (lineEnds.has(at)) this.#lineHashes.push(contentHash);
      if (lengths.has(at)) this.#begin(piece, { at, contentHash });
    }
    this.#hash.update(piece.subarray(hashed));
    this.#byteCount += piece.length;
  }

  print(): Omit<Fingerprint, "endsLine" | "isUtf16"> {
    const contentHash = this.#hash.digest("hex");
    if (isPowerOfTwo(this.#newlines - this.#titleLines)) this.#lineHashes.push(contentHash);
    return {
      contentHash,
      byteCount: this.#byteCount,
      lineCount: this.#newlines + 1,
      lineHashes: this.#lineHashes,
      beginnings: this.#beginnings,
    };
  }

  #begin(piece: Buffer, { at, contentHash }: { at: number; contentHash: string }): void {
    this.#beginnings.set(this.#byteCount + at, { contentHash, endsLine: piece[at] === newline });
    if (at === piece.length) this.#open = { at: this.#byteCount + at, contentHash };
  }

  /** Offsets at which the header and 1, 2, 4, 8… more lines end. */
  #markedLineEnds(piece: Buffer): Set<number> {
    const marks = new Set<number>();
    for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, at + 1)) {
      if (isPowerOfTwo(this.#newlines - this.#titleLines)) marks.add(at);
      this.#newlines += 1;
    }
    return marks;
  }

  /** Offsets at which a known beginning may end. */
  #markedLengths(piece: Buffer): Set<number> {
    const marks = new Set<number>();
    for (let at = this.#byteCounts[this.#next]; at !== undefined; at = this.#byteCounts[++this.#next]) {
      if (at > this.#byteCount + piece.length) break;
      marks.add(at - this.#byteCount);
    }
    return marks;
  }
}

function isPowerOfTwo(count: number): boolean {
  return count > 0 && (count & (count - 1)) === 0;
}
