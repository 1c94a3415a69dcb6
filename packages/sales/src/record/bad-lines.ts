import { type BadLine, ImportFault } from "../import-fault.ts";
import { name } from "../read/content.ts";
import type { Header, SkipFile } from "./skip-file.ts";

const maxLines = 10_000;

/** The bad lines of a file: all are counted, the first are kept, and with a skip file each of them is written there. */
export class BadLines {
  readonly #limit: number;
  readonly #skipFile: SkipFile | undefined;
  readonly #first: BadLine[] = [];
  readonly #lines: number[] = [];
  #count = 0;

  /** `limit`: how many are kept. Without a skip file, the first bad line refuses the file. */
  constructor(limit: number, skipFile?: SkipFile) {
    this.#limit = limit;
    this.#skipFile = skipFile;
  }

  get count(): number {
    return this.#count;
  }

  get first(): readonly BadLine[] {
    return this.#first;
  }

  /** The numbers of all of them, by which the mended file is known; undefined: there are more than a few thousand. */
  get lines(): readonly number[] | undefined {
    return this.#lines.length > maxLines ? undefined : this.#lines;
  }

  /** Whether good lines are still to be recorded. */
  get tolerated(): boolean {
    return this.#count === 0 || this.#skipFile !== undefined;
  }

  /** Throws ImportFault `skip_file_exists`. */
  async prepare(): Promise<void> {
    await this.#skipFile?.assertAbsent();
  }

  /** For the skip file. */
  header(header: Header): void {
    this.#skipFile?.header(header);
  }

  /** `lastLine`: where a record of several lines ends. */
  add(bad: BadLine, raw: string, lastLine: number = bad.line): void {
    this.#count += 1;
    for (let line = bad.line; line <= lastLine && this.#lines.length <= maxLines; line += 1) this.#lines.push(line);
    if (this.#first.length < this.#limit) this.#first.push(bad);
    this.#skipFile?.add(bad, raw);
  }

  /** Counts lines that are not told one by one. */
  addUntold(count: number): void {
    this.#count += count;
  }

  async flush(): Promise<void> {
    if (this.#count > 0) await this.#skipFile?.flush();
  }

  /** Before the commit: throws what is not tolerated, makes the skip file last otherwise. */
  async settle(file: string): Promise<void> {
    if (!this.tolerated) throw this.#fault(file);
    if (this.#count > 0) await this.#skipFile?.keep();
  }

  /** After a failure that recorded nothing. */
  async discard(): Promise<void> {
    await this.#skipFile?.discard();
  }

  #fault(path: string): ImportFault {
    const count = this.#count;
    const file = name(path);
    const [first] = this.#first;
    const column = first?.column === undefined ? "" : `, column ${first.column}`;
    const where = `line ${first?.line}${column}: ${first?.reason}`;
    const which = count === 1 ? `1 bad line, ${where}` : `${count} bad lines, the first is ${where}`;
    return new ImportFault("bad_lines", `${file}: ${which}; nothing was recorded`, {
      details: { file, count, line: first?.line, column: first?.column },
      badLines: this.#first,
    });
  }
}
