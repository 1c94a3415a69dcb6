/**
 * Where bad lines go when the rest is recorded: a CSV that keeps each of them as it stood in the file, but for CRLF, behind
 * three columns that say which line it was, which column is wrong, and why. Mended by hand, it can be imported with the
 * same options.
 *
 * It is complete and on disk before the good lines are committed: lines that are recorded nowhere must never be lost.
 */
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import iconv from "iconv-lite";
import { ImportFault } from "../import-fault.ts";

/** The header of a file, as it stands there, with the lines before it. */
export interface Header {
  readonly raw: string;
  readonly delimiter: string;
  readonly titles: readonly string[];
}

export class SkipFile {
  readonly #path: string;
  readonly #partial: string;
  readonly #encoding: string;
  readonly #isDry: boolean;
  #delimiter = ",";
  #handle: FileHandle | undefined;
  #text = "";
  #kept = false;

  /** Nothing is looked at or written yet; nothing is ever written with `dryRun`. */
  constructor(path: string, { encoding, dryRun = false }: { readonly encoding: string; readonly dryRun?: boolean }) {
    this.#path = path;
    this.#isDry = dryRun;
    this.#partial = `${path}.partial`;
    this.#encoding = encoding;
  }

  /** Throws ImportFault `skip_file_exists`: the bad lines of another import are not overwritten. */
  async assertAbsent(): Promise<void> {
    const found = await stat(this.#path).catch(() => undefined);
    if (found === undefined) return;
    const remedy = "exists already, and bad lines of before are not overwritten; move it away, or name another";
    throw new ImportFault("skip_file_exists", `${this.#path}: ${remedy}`, { details: { path: this.#path } });
  }

  /** First of all. What stands before the header in the file stands there too, since the same options read both. */
  header({ raw, delimiter, titles }: Header): void {
    this.#delimiter = delimiter;
    for (const title of titles) this.#text += `${title}\n`;
    this.#put(["bad line", "bad column", "bad because"], raw);
  }

  add(bad: { line: number; column: string | undefined; reason: string }, raw: string): void {
    this.#put([String(bad.line), bad.column ?? "", bad.reason], raw);
  }

  #put(cells: readonly string[], raw: string): void {
    const delimiter = this.#delimiter;
    const quoted = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`);
    this.#text += `${quoted.join(delimiter)}${delimiter}${raw}\n`;
  }

  /** Writes what was added since. Throws ImportFault `skip_file_unwritable`. */
  async flush(): Promise<void> {
    if (this.#isDry) {
      this.#text = "";
      return;
    }
    try {
      this.#handle ??= await open(this.#partial, "w");
      await this.#handle.write(iconv.encode(this.#text, this.#encoding));
      this.#text = "";
    } catch (error) {
      throw unwritable(this.#path, error);
    }
  }

  /** After it returns the file stands under its name, and survives a crash of the machine. */
  async keep(): Promise<void> {
    await this.flush();
    if (this.#isDry) return;
    try {
      await this.#handle?.datasync();
      await this.#close();
      await rename(this.#partial, this.#path);
      this.#kept = true;
    } catch (error) {
      throw unwritable(this.#path, error);
    }
  }

  /** Removes it again: nothing was recorded. */
  async discard(): Promise<void> {
    await this.#close();
    if (this.#isDry) return;
    await rm(this.#kept ? this.#path : this.#partial, { force: true });
  }

  async #close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }
}

function unwritable(path: string, cause: unknown): ImportFault {
  const fact = cause instanceof Error ? cause.message : String(cause);
  return new ImportFault("skip_file_unwritable", `${path}: cannot be written: ${fact}; nothing was recorded`, {
    details: { path },
    cause,
  });
}
