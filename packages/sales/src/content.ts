/**
 * A file as bytes: read in bounded pieces, decompressed when it is gzip, known by the SHA-256 of what it says.
 *
 * A file is read twice. The first reading finds out whether this content, or its beginning, was imported before; only
 * the second one parses. In between, a till may have written more: the second reading ends where the first one did, and
 * must come to the same hash.
 */
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { createGunzip } from "node:zlib";
import { ImportFault } from "./import-fault.ts";

const pieceBytes = 262_144;
const newline = 0x0a;

/** Reads the file's bytes, decompressed. Throws ImportFault `file_unreadable` or `file_encoding`. */
export async function* readContent(file: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const start = await readStart(file);
  if ((start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff)) {
    throw new ImportFault("file_encoding", `${name(file)}: is UTF-16; save it as UTF-8`, { details: { file } });
  }
  const bytes = createReadStream(file, { highWaterMark: pieceBytes });
  const isGzip = start[0] === 0x1f && start[1] === 0x8b;
  const stream = isGzip ? bytes.pipe(createGunzip({ chunkSize: pieceBytes })) : bytes;
  if (isGzip) bytes.on("error", (error) => stream.destroy(error));
  try {
    for await (const piece of stream) {
      signal?.throwIfAborted();
      yield piece as Buffer;
    }
  } catch (error) {
    throw signal?.aborted === true ? error : unreadable(file, error);
  } finally {
    bytes.destroy();
    stream.destroy();
  }
}

async function readStart(file: string): Promise<Buffer> {
  try {
    await using handle = await open(file);
    // A pipe cannot be read twice.
    if (!(await handle.stat()).isFile()) throw new Error("it is not a regular file");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, cause: unknown): ImportFault {
  const fact = cause instanceof Error ? cause.message : String(cause);
  return new ImportFault("file_unreadable", `${name(file)}: cannot be read: ${fact}`, { details: { file }, cause });
}

/** What a message calls the file. */
export function name(file: string): string {
  return basename(file);
}

/** A beginning of the content, `byteCount` long. */
export interface Beginning {
  readonly contentHash: string;
  /** Whether its last line is a whole one here, too. If not, that line was written on. */
  readonly endsLine: boolean;
}

export interface Fingerprint {
  /** SHA-256 of the decompressed content, in hexadecimal. */
  readonly contentHash: string;
  readonly byteCount: number;
  /** Lines of the file, an unfinished last one included. */
  readonly lineCount: number;
  /** By byte count: the beginnings that were asked for. */
  readonly beginnings: ReadonlyMap<number, Beginning>;
}

/** Reads a whole file once. Throws ImportFault `file_unreadable`, `file_encoding` or `file_empty`. */
export async function fingerprintFile(
  { file, signal }: { readonly file: string; readonly signal?: AbortSignal | undefined },
  { byteCounts = [], onRead = () => {} }: { byteCounts?: readonly number[]; onRead?: (bytes: number) => void } = {},
): Promise<Fingerprint> {
  const print = await fingerprint(counted(readContent(file, signal), onRead), byteCounts);
  if (print.byteCount > 0) return print;
  throw new ImportFault("file_empty", `${name(file)}: is empty; it needs a header at least`, { details: { file } });
}

async function* counted(content: AsyncIterable<Buffer>, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    onRead(piece.length);
    yield piece;
  }
}

/** Reads the whole content once. `byteCounts`: the lengths of beginnings that may be known, shortest first. */
export async function fingerprint(
  content: AsyncIterable<Buffer>,
  byteCounts: readonly number[] = [],
): Promise<Fingerprint> {
  const hash = createHash("sha256");
  const beginnings = new Map<number, Beginning>();
  let byteCount = 0;
  let newlines = 0;
  let lastByte = newline;
  let next = 0;
  let open: { readonly at: number; readonly contentHash: string } | undefined;
  for await (const piece of content) {
    if (open !== undefined) beginnings.set(open.at, { contentHash: open.contentHash, endsLine: isLineEnd(piece[0]) });
    open = undefined;
    let hashed = 0;
    for (let at = byteCounts[next]; at !== undefined && at <= byteCount + piece.length; at = byteCounts[++next]) {
      hash.update(piece.subarray(hashed, at - byteCount));
      hashed = at - byteCount;
      const last = hashed === 0 ? lastByte : piece[hashed - 1];
      const contentHash = digest(hash);
      if (last !== newline && hashed === piece.length) open = { at, contentHash };
      beginnings.set(at, { contentHash, endsLine: last === newline || isLineEnd(piece[hashed]) });
    }
    hash.update(piece.subarray(hashed));
    newlines += countNewlines(piece);
    byteCount += piece.length;
    lastByte = piece.at(-1) ?? lastByte;
  }
  const lineCount = newlines + (lastByte === newline ? 0 : 1);
  return { contentHash: digest(hash), byteCount, lineCount, beginnings };
}

function digest(hash: Hash): string {
  return hash.copy().digest("hex");
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === newline || byte === 0x0d;
}

function countNewlines(piece: Buffer): number {
  let count = 0;
  for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, at + 1)) count += 1;
  return count;
}
