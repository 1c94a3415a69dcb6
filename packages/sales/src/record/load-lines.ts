/**
 * From the lines of a file to rows of a table, with COPY, in one pass and bounded memory.
 *
 * A COPY lends the connection for as long as it lasts, so it is ended whenever restaurants have to be looked up, and after
 * {@link segmentLines} lines: each statement stays far below the server's and the client's limits of time, however long
 * the file is. Once a line is bad and none may be, nothing more is copied, and the rest is read for further bad lines only.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Database, type Session, sqlFault } from "@nightwriter/database";
import { ImportFault } from "../import-fault.ts";
import { type Fingerprint, name } from "../read/content.ts";
import { type FileOptions, type Piece, readPieces } from "../read/csv-file.ts";
import type { CsvRecord } from "../read/csv-reader.ts";
import { findColumns, hasColumn } from "../read/header.ts";
import { RowFilter } from "../read/row-filter.ts";
import { type Restaurant, type RestaurantOptions, Restaurants } from "../restaurants/restaurant-store.ts";
import type { UnusedColumns } from "../suspicions/unused-columns.ts";
import type { BadLines } from "./bad-lines.ts";

/** Which restaurant a line belongs to: always the same one, or the one that a column names. */
export type RestaurantChoice = { readonly id: string } | { readonly column: string };

/** A field that cannot be read: which of the wanted columns, and why. */
export type Complaint = { readonly column: number; readonly reason: string };

/** What becomes of a line. */
export interface LineTarget {
  /** `copy … from stdin`, in the text format. */
  readonly copy: string;
  /** The columns that {@link encode} needs. */
  readonly columns: readonly string[];
  /** Columns that a file may have; their fields are empty when it has not. */
  readonly optionalColumns?: readonly string[];
  /** The row for COPY, with its line feed; or what is wrong. `fields` are those of `columns` and then `optionalColumns`. */
  encode(fields: readonly string[], restaurant: Restaurant, line: number): string | Complaint;
  /** The row of a line that the filter leaves out; empty: none. Default: none of them has one, and their restaurants are not looked for. */
  leaveOut?(fields: readonly string[], restaurant: Restaurant, line: number): string;
}

export interface Load {
  readonly file: FileOptions;
  /** The content that is meant; a file that became another since is refused. */
  readonly print: Fingerprint;
  readonly restaurant: RestaurantChoice;
  readonly restaurants: RestaurantOptions;
  readonly bad: BadLines;
  /** Default: every line is kept. */
  readonly filter?: RowFilter | undefined;
  /** Lines up to `lineCount` were recorded before, `except` for some. Default: none. */
  readonly known?: { readonly lineCount: number; readonly except: ReadonlySet<number> } | undefined;
  /** Sees what stands in columns that nobody asks for. Default: nobody does. */
  readonly unused?: UnusedColumns | undefined;
  readonly onProgress?: (bytes: number, lastLine: number) => void;
}

export interface Loaded {
  /** Lines that became rows. */
  readonly lines: number;
  /** Records of the lines that were recorded before. */
  readonly known: number;
  /** Records that the filter left out. */
  readonly leftOut: number;
  readonly restaurantsCreated: number;
  readonly header: readonly string[];
  readonly delimiter: string;
}

/** Lines per COPY: a second or so of the server's work. */
const segmentLines = 20_000;
const maxIdLength = 200;

/** Copies what can be, into the session's transaction; what cannot is in `load.bad` afterwards. Throws ImportFault, SqlFault. */
export async function loadLines(
  database: Database,
  session: Session,
  { load, target }: { readonly load: Load; readonly target: LineTarget },
): Promise<Loaded> {
  const pieces = readPieces(load.file, load.print);
  try {
    const restaurants = new Restaurants(database, session, load.restaurants);
    const loader = new Loader(restaurants, { load, pieces, target });
    await loader.begin();
    while (!loader.done) {
      await loader.prepare();
      if (!loader.hasRecords) continue;
      if (loader.isRecording) await copy(session, target.copy, loader.segment());
      else loader.check();
      await load.bad.flush();
    }
    return loader.loaded;
  } finally {
    await pieces.return(undefined);
  }
}

async function copy(session: Session, text: string, rows: AsyncGenerator<string>): Promise<void> {
  let failure: unknown;
  const watched = async function* (): AsyncGenerator<string> {
    try {
      yield* rows;
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  try {
    await pipeline(Readable.from(watched()), session.copyFrom(text));
  } catch (error) {
    // What the file did wrong is thrown as it is; everything else came from the database.
    throw failure instanceof Error ? failure : sqlFault(error);
  }
}

type Misfit = { readonly column: string | undefined; readonly reason: string };

class Loader {
  readonly #restaurants: Restaurants;
  readonly #load: Load;
  readonly #knownLines: number;
  readonly #unknownLines: ReadonlySet<number>;
  readonly #pieces: AsyncGenerator<Piece>;
  readonly #target: LineTarget;
  readonly #filter: RowFilter;
  #filterIndexes: readonly number[] = [];
  #delimiter = ",";
  #titles: readonly string[] = [];
  #header: readonly string[] = [];
  #indexes: readonly number[] = [];
  #restaurantIndex: number | undefined;
  #held: readonly CsvRecord[] = [];
  /** Lines that became rows. */
  #lines = 0;
  #known = 0;
  #leftOut = 0;
  /** Lines that were looked at, bad and known ones too. */
  #looked = 0;
  done = false;

  constructor(
    restaurants: Restaurants,
    { load, pieces, target }: { load: Load; pieces: AsyncGenerator<Piece>; target: LineTarget },
  ) {
    this.#restaurants = restaurants;
    this.#load = load;
    this.#knownLines = load.known?.lineCount ?? 0;
    this.#unknownLines = load.known?.except ?? new Set();
    this.#pieces = pieces;
    this.#target = target;
    this.#filter = load.filter ?? new RowFilter({});
  }

  get hasRecords(): boolean {
    return this.#held.length > 0;
  }

  get isRecording(): boolean {
    return this.#load.bad.tolerated;
  }

  get loaded(): Loaded {
    return {
      lines: this.#lines,
      known: this.#known,
      leftOut: this.#leftOut,
      restaurantsCreated: this.#restaurants.created,
      header: this.#header,
      delimiter: this.#delimiter,
    };
  }

  /** Reads the header and finds the columns. */
  async begin(): Promise<void> {
    const { restaurant, bad } = this.#load;
    const { file } = this.#load.file;
    const header = await this.#firstRecord();
    if (header === undefined || header.broken !== undefined) {
      const fact = header === undefined ? "has blank lines only" : `its header is broken: ${header.broken}`;
      throw new ImportFault("file_empty", `${name(file)}: ${fact}`, { details: { file } });
    }
    const { columns, optionalColumns = [] } = this.#target;
    const find = (wanted: readonly string[]): number[] => findColumns(header.fields, wanted, name(file));
    const optional = optionalColumns.map((column) => (hasColumn(header.fields, column) ? find([column]) : [-1]));
    this.#header = header.fields.map((each) => each.trim());
    this.#restaurantIndex = "column" in restaurant ? find([restaurant.column])[0] : undefined;
    this.#filterIndexes = find(this.#filter.columns);
    this.#indexes = [...find(columns), ...optional.flat()];
    const used = [...this.#indexes, ...this.#filterIndexes, this.#restaurantIndex ?? -1];
    this.#load.unused?.begin(this.#header, new Set(used));
    bad.header({ raw: header.raw, delimiter: this.#delimiter, titles: this.#titles });
    if ("id" in restaurant) await this.#beginWith(restaurant.id);
  }

  async #beginWith(id: string): Promise<void> {
    await this.#restaurants.load([id]);
    if (this.#restaurants.find(id) !== undefined) return;
    throw new ImportFault(
      "restaurant_unknown",
      `restaurant ${id}: is not known, and none is to be made; nothing was recorded`,
      {
        details: { restaurant: id },
      },
    );
  }

  async #firstRecord(): Promise<CsvRecord | undefined> {
    while (!this.done) {
      await this.#pull();
      const [first, ...others] = this.#held;
      this.#held = others;
      if (first !== undefined) return first;
    }
    return undefined;
  }

  async #pull(): Promise<void> {
    const next = await this.#pieces.next();
    this.done = next.done === true;
    this.#held = next.done === true ? [] : next.value.records;
    if (next.done === true) return;
    this.#delimiter = next.value.delimiter;
    this.#titles = next.value.titles;
    this.#load.onProgress?.(next.value.bytes, this.#held.at(-1)?.lastLine ?? 0);
  }

  /** Sees to it that there are records at hand, and that their restaurants are known. */
  async prepare(): Promise<void> {
    if (this.#held.length === 0) await this.#pull();
    const { kept, leftOut } = this.#unknownIds();
    if (kept.length > 0) await this.#restaurants.load(kept, { pretend: !this.isRecording });
    if (leftOut.length > 0) await this.#restaurants.look(leftOut);
  }

  /** None, if all restaurants of the new records at hand are known; otherwise all of their ids. */
  #unknownIds(): { readonly kept: readonly string[]; readonly leftOut: readonly string[] } {
    const none = { kept: [], leftOut: [] };
    if (this.#restaurantIndex === undefined) return none;
    const kept = new Set<string>();
    const leftOut = new Set<string>();
    for (const record of this.#held) {
      if (this.#isKnown(record) || this.#misshape(record) !== undefined) continue;
      const isKept = this.#keeps(record);
      if (!isKept && this.#target.leaveOut === undefined) continue;
      const id = this.#idOf(record);
      if (typeof id === "string") (isKept ? kept : leftOut).add(id);
    }
    const isKnown =
      [...kept].every((id) => this.#restaurants.has(id)) && [...leftOut].every((id) => this.#restaurants.hasLooked(id));
    return isKnown ? none : { kept: [...kept], leftOut: [...leftOut].filter((id) => !kept.has(id)) };
  }

  /** The rows of the records at hand and of the next pieces, until it is time for another COPY. */
  async *segment(): AsyncGenerator<string> {
    const last = this.#looked + segmentLines;
    while (this.#held.length > 0) {
      const rows = this.check();
      if (rows !== "") yield rows;
      await this.#load.bad.flush();
      if (!this.isRecording || this.#looked >= last) return;
      while (this.#held.length === 0 && !this.done) await this.#pull();
      const { kept, leftOut } = this.#unknownIds();
      if (kept.length + leftOut.length > 0) return;
    }
  }

  /** The rows of the records at hand; what is bad in them is noted. */
  check(): string {
    let rows = "";
    for (const record of this.#held) {
      const row = this.#rowOf(record);
      if (typeof row === "string") {
        rows += row;
      } else {
        this.#load.bad.add({ line: record.line, ...row }, record.raw, record.lastLine);
      }
    }
    this.#looked += this.#held.length;
    this.#held = [];
    return rows;
  }

  /** Empty: the line was recorded before. */
  #rowOf(record: CsvRecord): string | Misfit {
    if (this.#isKnown(record)) {
      this.#known += 1;
      if (record.lastLine <= this.#knownLines) return "";
      return { column: undefined, reason: `begins in the ${this.#knownLines} lines that were imported before` };
    }
    const misshape = this.#misshape(record);
    if (misshape !== undefined) return misshape;
    if (!this.#keeps(record)) return this.#leaveOut(record);
    const id = this.#idOf(record);
    if (typeof id !== "string") return id;
    const restaurant = this.#restaurants.find(id);
    if (restaurant === undefined) {
      return { column: this.#restaurantColumn, reason: `restaurant ${JSON.stringify(id)} is not known` };
    }
    const row = this.#target.encode(this.#fieldsOf(record), restaurant, record.line);
    if (typeof row !== "string") return { column: this.#header[this.#indexes[row.column] ?? -1], reason: row.reason };
    this.#lines += 1;
    this.#load.unused?.take(record.fields);
    return row;
  }

  #leaveOut(record: CsvRecord): string {
    this.#leftOut += 1;
    const id = this.#target.leaveOut === undefined ? undefined : this.#idOf(record);
    const restaurant = typeof id === "string" ? this.#restaurants.find(id) : undefined;
    if (restaurant === undefined) return "";
    return this.#target.leaveOut?.(this.#fieldsOf(record), restaurant, record.line) ?? "";
  }

  #fieldsOf({ fields }: CsvRecord): string[] {
    return this.#indexes.map((index) => fields[index] ?? "");
  }

  #keeps({ fields }: CsvRecord): boolean {
    return this.#filterIndexes.length === 0 || this.#filter.keeps(this.#filterIndexes.map((at) => fields[at] ?? ""));
  }

  #isKnown({ line }: CsvRecord): boolean {
    return line <= this.#knownLines && !this.#unknownLines.has(line);
  }

  get #restaurantColumn(): string | undefined {
    return this.#restaurantIndex === undefined ? undefined : this.#header[this.#restaurantIndex];
  }

  /** Why it cannot be a line of this file. */
  #misshape({ broken, fields }: CsvRecord): Misfit | undefined {
    if (broken !== undefined) return { column: undefined, reason: broken };
    const expected = this.#header.length;
    // Some tills end each line with one more delimiter.
    if (fields.length < expected || fields.slice(expected).some((field) => field.trim() !== "")) {
      return { column: this.#header[fields.length], reason: `has ${fields.length} fields, the header has ${expected}` };
    }
    return undefined;
  }

  /** The restaurant that the line names, or why it names none. */
  #idOf({ fields }: CsvRecord): string | Misfit {
    const { restaurant } = this.#load;
    if ("id" in restaurant) return restaurant.id;
    const id = (fields[this.#restaurantIndex ?? -1] ?? "").trim();
    const reason = misnomer(id);
    return reason === undefined ? id : { column: this.#restaurantColumn, reason };
  }
}

/** Why a text cannot be a restaurant's id. */
function misnomer(id: string): string | undefined {
  if (id === "") return "is empty";
  if (id.length > maxIdLength) return `is longer than ${maxIdLength} characters`;
  if (id.includes("\0")) return "has a NUL in it";
  if (id.includes("\uFFFD")) return "is not UTF-8; say --encoding latin-1 if that is what it is";
  return undefined;
}
