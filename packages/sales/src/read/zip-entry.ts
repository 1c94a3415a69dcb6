import { basename } from "node:path";
import { pipeline, type Readable, Transform, type TransformCallback } from "node:stream";
import { crc32 } from "node:zlib";
import { type Entry, openPromise } from "yauzl";
import { ImportFault } from "../import-fault.ts";

/** More are not named one by one. */
const maxEntries = 1_000;

/**
 * The bytes of the only file in a zip. Throws ImportFault `file_unreadable` for a workbook, and where there is none, more than one, or a password;
 * what yauzl throws. The stream fails at its end if the bytes have another checksum, as that of gzip does: yauzl leaves that to its caller.
 */
export async function openZipEntry(file: string): Promise<Readable> {
  const zip = await openPromise(file, { autoClose: false });
  try {
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) if (entries.push(entry) === maxEntries) break;
    const [entry, ...others] = entries.filter(({ fileName }) => !isBeside(fileName));
    if (entry === undefined || others.length > 0) throw notOne(file, entries);
    if (entry.isEncrypted()) throw unreadable(file, "is a zip with a password; unpack it, and import what is in it");
    const stream = await zip.openReadStreamPromise(entry);
    stream.once("close", () => zip.close());
    // A failure is the reader's to see.
    return pipeline(stream, new Checked(entry.crc32), () => {});
  } catch (error) {
    zip.close();
    throw error;
  }
}

/** Folders, and what macOS and Windows put beside people's files. */
function isBeside(fileName: string): boolean {
  return /\/$|^__MACOSX\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/u.test(fileName);
}

function notOne(file: string, entries: readonly Entry[]): ImportFault {
  const names = entries.map(({ fileName }) => fileName);
  const files = names.filter((each) => !isBeside(each));
  if (files.length === 0) return unreadable(file, "is a zip without a file");
  if (names.some((each) => each.startsWith("xl/"))) {
    return unreadable(file, "is an Excel workbook (.xlsx) and no CSV; save it as CSV");
  }
  if (names[0] === "mimetype") return unreadable(file, "is an OpenDocument (.ods) and no CSV; save it as CSV");
  const some = files.slice(0, 5).join(", ");
  return unreadable(file, `is a zip with ${files.length} files (${some}); unpack it, and import each`);
}

function unreadable(file: string, fact: string): ImportFault {
  return new ImportFault("file_unreadable", `${basename(file)}: ${fact}`, { details: { file } });
}

class Checked extends Transform {
  readonly #expected: number;
  #crc = 0;

  constructor(expected: number) {
    super();
    this.#expected = expected;
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#crc = crc32(bytes, this.#crc);
    done(undefined, bytes);
  }

  override _flush(done: TransformCallback): void {
    done(this.#crc === this.#expected ? undefined : new Error("its checksum is another: it was damaged; get it anew"));
  }
}
