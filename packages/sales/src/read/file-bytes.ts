/** The bytes of a file's text, whatever it is packed in: plain, gzip, or zip with one file. UTF-16 comes out as UTF-8. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import iconv from "iconv-lite";
import { ImportFault } from "../import-fault.ts";
import { openZipEntry } from "./zip-entry.ts";

const pieceBytes = 65_536;

/** What is only known when the file is read. */
export interface Found {
  /** The file is UTF-16, whatever was said. */
  isUtf16: boolean;
}

/** What a message calls the file. */
export function name(file: string): string {
  return basename(file);
}

/** Yields pieces that are not empty. Throws ImportFault `file_unreadable`, `file_encoding`. */
export async function* readBytes(
  { file, signal }: { readonly file: string; readonly signal?: AbortSignal | undefined },
  found: Found = { isUtf16: false },
): AsyncGenerator<Buffer> {
  yield* withoutUtf16(unpacked(file, signal), file, found);
}

async function* unpacked(file: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const start = await readStart(file);
  const bytes = createReadStream(file, { highWaterMark: pieceBytes });
  let stream: Readable = bytes;
  try {
    stream = start.startsWith("PK\u0003\u0004") ? await openZipEntry(file) : unzipped(bytes, start);
    for await (const piece of stream) {
      signal?.throwIfAborted();
      if ((piece as Buffer).length > 0) yield piece as Buffer;
    }
  } catch (error) {
    throw signal?.aborted === true || error instanceof ImportFault ? error : unreadable(file, error);
  } finally {
    bytes.destroy();
    stream.destroy();
  }
}

function unzipped(bytes: Readable, start: string): Readable {
  if (!start.startsWith("\u001F\u008B")) return bytes;
  const stream = bytes.pipe(createGunzip({ chunkSize: pieceBytes }));
  bytes.on("error", (error) => stream.destroy(error));
  return stream;
}

async function readStart(file: string): Promise<string> {
  try {
    await using handle = await open(file);
    // A pipe cannot be read twice.
    if (!(await handle.stat()).isFile()) throw new Error("it is not a regular file");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead).toString("latin1");
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, cause: unknown): ImportFault {
  const fact = cause instanceof Error ? cause.message : String(cause);
  return new ImportFault("file_unreadable", `${name(file)}: cannot be read: ${fact}`, { details: { file }, cause });
}

/** So many bytes tell what a file is. */
const startBytes = 512;

async function* withoutUtf16(bytes: AsyncIterable<Buffer>, file: string, found: Found): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  let decoder: ReturnType<typeof iconv.getDecoder> | undefined;
  const text = (piece: Buffer): Buffer => (decoder === undefined ? piece : Buffer.from(decoder.write(piece)));
  for await (const piece of bytes) {
    if (start === undefined) {
      yield text(piece);
      continue;
    }
    start = Buffer.concat([start, piece]);
    if (start.length < startBytes) continue;
    decoder = decoderOf(start, file, found);
    yield text(start);
    start = undefined;
  }
  if (start !== undefined) {
    decoder = decoderOf(start, file, found);
    if (start.length > 0) yield text(start);
  }
  const rest = Buffer.from(decoder?.end() ?? "");
  if (rest.length > 0) yield rest;
}

function decoderOf(start: Buffer, file: string, found: Found): ReturnType<typeof iconv.getDecoder> | undefined {
  const encoding = utf16Of(start);
  const fact = strangeness(encoding === undefined ? start.toString("latin1") : iconv.decode(start, encoding));
  if (fact !== undefined) {
    throw new ImportFault("file_unreadable", `${name(file)}: ${fact}`, { details: { file } });
  }
  found.isUtf16 = encoding !== undefined;
  // The mark stays: what is made of it is the mark of UTF-8, which is left out later.
  return encoding === undefined ? undefined : iconv.getDecoder(encoding, { stripBOM: false });
}

/** By its mark, or by every second byte being zero, as it is where most letters are Latin. */
function utf16Of(start: Buffer): "utf-16le" | "utf-16be" | undefined {
  const mark = start.subarray(0, 2).toString("latin1");
  if (mark === "\u00FF\u00FE") return "utf-16le";
  if (mark === "\u00FE\u00FF") return "utf-16be";
  const zeros = [...start.subarray(0, startBytes).entries()].filter(([, byte]) => byte === 0);
  const odd = zeros.filter(([index]) => index % 2 === 1).length;
  const even = zeros.length - odd;
  const most = Math.min(start.length, startBytes) / 4;
  if (odd > most && even === 0) return "utf-16le";
  return even > most && odd === 0 ? "utf-16be" : undefined;
}

/** What files are that are no CSV, by how they begin, in words that help. */
const strangers: readonly (readonly [start: RegExp | string, fact: string])[] = [
  [
    /^(?:\s|<!--[^]*?-->)*<(?:!doctype\s+html|html|head|meta|title|style|script|body|div|table)\b/iu,
    "is a web page and no CSV: perhaps the log-in page that the download ended on, or a report to be exported as CSV",
  ],
  [/^\s*<\?xml\b/iu, "is XML and no CSV; export it as CSV"],
  [/^\s*(?:\{\s*["}]|\[\s*[[{"\]])/u, "is JSON and no CSV; export it as CSV"],
  ["%PDF-", "is a PDF and no CSV; export it as CSV"],
  ["\u00D0\u00CF\u0011\u00E0", "is an Excel workbook (.xls) and no CSV; save it as CSV"],
  ["PK\u0003\u0004", "is packed twice, or a workbook that was packed; unpack it once"],
  ["\u001F\u008B", "is packed twice; unpack it once"],
  ["PK\u0005\u0006", "is a zip without a file"],
  [/^(?:Rar!|7z\u00BC\u00AF)/u, "is packed as RAR or 7z; unpack it, and import each of its files"],
];

function strangeness(start: string): string | undefined {
  // The mark of UTF-8, where each byte is a character.
  const text = start.replace(/^\u00EF\u00BB\u00BF/u, "");
  return strangers.find(([each]) => (typeof each === "string" ? text.startsWith(each) : each.test(text)))?.[1];
}
