/** A CSV file as records, a bounded piece at a time, whatever its encoding; exactly the content that was fingerprinted. */
import { isAscii } from "node:buffer";
import { createHash } from "node:crypto";
import iconv from "iconv-lite";
import { ImportFault } from "../import-fault.ts";
import { type Fingerprint, name, readContent } from "./content.ts";
import { CsvReader, type CsvRecord, maxLineLength } from "./csv-reader.ts";

export type Encoding = "utf-8" | "latin-1" | "windows-1252";

/** How a file is written. */
export interface FileOptions {
  /** Its path. A gzip file is decompressed, and so is a zip with one file. */
  readonly file: string;
  /** Between fields. Default: what a first line `sep=;` says, or else a comma. */
  readonly delimiter?: string;
  /** How many lines stand before the header: a title, the date of printing. Default: none. */
  readonly titleLines?: number;
  /**
   * Default: utf-8, with or without a byte order mark. latin-1 is read as windows-1252, its superset, as browsers do. UTF-16 is known by its
   * bytes, whatever is said.
   */
  readonly encoding?: Encoding;
  /** 1.234,56 instead of 1,234.56: in all columns of amounts, or in these. Default: false. */
  readonly decimalComma?: boolean | readonly string[];
  readonly signal?: AbortSignal;
}

/** What iconv-lite calls them. */
export const iconvNames: Readonly<Record<Encoding, string>> = {
  "utf-8": "utf8",
  "latin-1": "win1252",
  "windows-1252": "win1252",
};

/** A piece of the file: the records that end in it. */
export interface Piece {
  readonly records: readonly CsvRecord[];
  readonly bytes: number;
  /** Between fields, as far as it is known by now. */
  readonly delimiter: string;
  /** The lines before the header, as far as they were read. */
  readonly titles: readonly string[];
}

/** Throws ImportFault `delimiter_invalid`. */
export function checkDelimiter({ delimiter }: FileOptions): void {
  if (delimiter === undefined || (delimiter !== "" && !/["\r\n\0]/u.test(delimiter))) return;
  throw new ImportFault(
    "delimiter_invalid",
    `delimiter ${JSON.stringify(delimiter)}: cannot part fields; use , ; or a tab`,
    {
      details: { delimiter },
    },
  );
}

/** Yields the records of the content that `print` names. Throws ImportFault `file_changed` after the last, if it was another. */
export async function* readPieces(options: FileOptions, print: Fingerprint): AsyncGenerator<Piece> {
  const { file, signal, encoding = "utf-8" } = options;
  const decoder = iconv.getDecoder(print.isUtf16 ? "utf8" : iconvNames[encoding]);
  const bytesAsSaid = new SaidEncoding(file, encoding);
  checkDelimiter(options);
  const reader = new CsvReader(options);
  const piece = (records: readonly CsvRecord[], bytes: number): Piece => ({
    records,
    bytes,
    delimiter: reader.delimiter,
    titles: reader.titles,
  });
  const hash = createHash("sha256");
  let left = print.byteCount;
  for await (const whole of readContent({ file, signal })) {
    const bytes = whole.subarray(0, left);
    left -= bytes.length;
    hash.update(bytes);
    bytesAsSaid.take(bytes);
    const records = reader.read(decoder.write(bytes));
    assertLineLength(reader, file);
    yield piece(records, bytes.length);
    if (left === 0) break;
  }
  if (hash.digest("hex") !== print.contentHash) {
    throw new ImportFault("file_changed", `${name(file)}: was changed while it was read; nothing was recorded`, {
      details: { file },
      retryable: true,
    });
  }
  bytesAsSaid.end();
  yield piece([...reader.read(decoder.end() ?? ""), ...reader.end()], 0);
}

/** Text that is UTF-8 by its bytes, beyond ASCII, is nothing else: a letter with an accent would come out as two others. */
class SaidEncoding {
  readonly #file: string;
  #decoder: TextDecoder | undefined;
  #hasMore = false;

  constructor(file: string, encoding: Encoding) {
    this.#file = file;
    this.#decoder = encoding === "utf-8" ? undefined : new TextDecoder("utf-8", { fatal: true });
  }

  take(bytes: Buffer): void {
    if (this.#decoder === undefined) return;
    try {
      this.#decoder.decode(bytes, { stream: true });
      this.#hasMore ||= !isAscii(bytes);
    } catch {
      this.#decoder = undefined;
    }
  }

  /** Throws ImportFault `file_encoding`. */
  end(): void {
    if (this.#decoder === undefined || !this.#hasMore) return;
    const fact = "is UTF-8, by its bytes; leave --encoding out";
    throw new ImportFault("file_encoding", `${name(this.#file)}: ${fact}`, { details: { file: this.#file } });
  }
}

function assertLineLength({ unfinishedLine: { line, length } }: CsvReader, file: string): void {
  if (length <= maxLineLength) return;
  throw new ImportFault(
    "line_too_long",
    `${name(file)}: line ${line} is longer than ${maxLineLength} characters; it is no CSV`,
    {
      details: { file, line },
    },
  );
}
