/**
 * From the lines of a file to rows of a table, with COPY, in one pass and bounded memory.
 *
 * A COPY lends the connection for as long as it lasts, so it is ended whenever restaurants have to be looked up, and after
 * {@link segmentLines} lines: each statement stays far below the server's and the client's limits of time, however long
 * the file is. Once a line is bad and none may be, nothing more is copied, and the rest is read for further bad lines only.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { invariant } from "@nightwriter/core";
import { type Database, type Session, sqlFault } from "@nightwriter/database";
import { ImportFault } from "../import-fault.ts";
import { type Fingerprint, name } from "../read/content.ts";
import { type FileOptions, type Piece, readPieces } from "../read/csv-file.ts";
import type { CsvRecord } from "../read/csv-reader.ts";
import type { RowFilter } from "../read/row-filter.ts";
import {
  type NewRestaurant,
  type Restaurant,
  type RestaurantOptions,
  Restaurants,
} from "../restaurants/restaurant-store.ts";
import type { UnusedColumns } from "../suspicions/unused-columns.ts";
import type { BadLines } from "./bad-lines.ts";
import { FileRecords, type Line, type Misfit } from "./file-records.ts";
import type { LostQuotes } from "./lost-quotes.ts";

/** Which restaurant a line belongs to: always the same one, or the one that a column names. */
export type RestaurantChoice = { readonly id: string } | { readonly column: string };

/** A field that cannot be read: which of the wanted columns, and why. */
export type Complaint = { readonly column: number; readonly reason: string };

/** A column that amounts are read from, and how they are written. */
export type AmountColumn = { readonly name: string; readonly decimalComma: boolean };

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
  /** Those of the columns that amounts are read from. Default: none that may have lost their quotes. */
  readonly amountColumns?: readonly AmountColumn[];
  /** Whether these fields look like those of a line of its own. Default: none does. */
  isRecord?(this: void, fields: readonly string[]): boolean;
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
  readonly lostQuotes: LostQuotes | undefined;
  readonly restaurantsCreated: number;
  readonly header: readonly string[];
  readonly delimiter: string;
}

/** Lines per COPY: a second or so of the server's work. */
const segmentLines = 20_000;

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

class Loader {
  readonly #restaurants: Restaurants;
  readonly #load: Load;
  readonly #knownLines: number;
  readonly #unknownLines: ReadonlySet<number>;
  readonly #pieces: AsyncGenerator<Piece>;
  readonly #target: LineTarget;
  /** After {@link begin}. */
  #records: FileRecords | undefined;
  #delimiter = ",";
  #titles: readonly string[] = [];
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
      lostQuotes: this.#of.lostQuotes,
      restaurantsCreated: this.#restaurants.created,
      header: this.#of.header,
      delimiter: this.#delimiter,
    };
  }

  get #of(): FileRecords {
    invariant(this.#records !== undefined, "the header was read");
    return this.#records;
  }

  /** Reads the header and finds the columns. */
  async begin(): Promise<void> {
    const { restaurant, bad } = this.#load;
    const { file } = this.#load.file;
    const header = await this.#firstRecord();
    // The next lines are looked at together with it.
    while (this.#held.length === 0 && !this.done) await this.#pull();
    if (header === undefined || header.broken !== undefined) {
      const fact = header === undefined ? "has blank lines only" : `its header is broken: ${header.broken}`;
      throw new ImportFault("file_empty", `${name(file)}: ${fact}`, { details: { file } });
    }
    const setting = { file: name(file), load: this.#load, target: this.#target, delimiter: this.#delimiter };
    this.#records = new FileRecords(header, this.#held, setting);
    this.#load.unused?.begin(this.#of.header, this.#of.named);
    bad.header({ raw: header.raw, delimiter: this.#delimiter, titles: this.#titles });
    if ("id" in restaurant && !this.#of.nameRestaurants) await this.#beginWith(restaurant.id);
  }

  async #beginWith(id: string): Promise<void> {
    await this.#restaurants.load(new Map([[id, {}]]));
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
    if (kept.size > 0) await this.#restaurants.load(kept, { pretend: !this.isRecording });
    if (leftOut.length > 0) await this.#restaurants.look(leftOut);
  }

  /** None, if all restaurants of the new records at hand are known; otherwise all of their ids. */
  #unknownIds(): { readonly kept: ReadonlyMap<string, NewRestaurant>; readonly leftOut: readonly string[] } {
    const none = { kept: new Map<string, NewRestaurant>(), leftOut: [] };
    if (!this.#of.nameRestaurants) return none;
    const kept = new Map<string, NewRestaurant>();
    const leftOut = new Set<string>();
    for (const record of this.#held) {
      const line = this.#isKnown(record) ? undefined : this.#of.lineOf(record);
      if (line === undefined || "reason" in line || typeof line.restaurantId !== "string") continue;
      if (!line.isKept && this.#target.leaveOut !== undefined) leftOut.add(line.restaurantId);
      const settings = line.isKept && !kept.has(line.restaurantId) ? this.#of.settingsOf(record) : undefined;
      if (settings !== undefined && !("reason" in settings)) kept.set(line.restaurantId, settings);
    }
    const areKnown = [...kept.keys()].every((id) => this.#restaurants.has(id));
    if (areKnown && [...leftOut].every((id) => this.#restaurants.hasLooked(id))) return none;
    return { kept, leftOut: [...leftOut].filter((id) => !kept.has(id)) };
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
      if (kept.size + leftOut.length > 0) return;
    }
  }

  /** The rows of the records at hand; what is bad in them is noted. */
  check(): string {
    let rows = "";
    for (const record of this.#held) {
      const row = this.#rowOf(record);
      if (typeof row === "string") rows += row;
      else this.#load.bad.add({ line: record.line, ...row }, record.raw, record.lastLine);
    }
    this.#looked += this.#held.length;
    this.#held = [];
    return rows;
  }

  /** Empty: the line was recorded before, or is left out. */
  #rowOf(record: CsvRecord): string | Misfit {
    if (this.#isKnown(record)) {
      this.#known += 1;
      this.#of.lostQuotes?.learn(record.fields);
      if (record.lastLine <= this.#knownLines) return "";
      return { column: undefined, reason: `begins in the ${this.#knownLines} lines that were imported before` };
    }
    const line = this.#of.lineOf(record);
    if ("reason" in line) return line;
    if (!line.isKept) return this.#leaveOut(record, line);
    if (typeof line.restaurantId !== "string") return line.restaurantId;
    return this.#keep(record, line.restaurantId);
  }

  #keep(record: CsvRecord, id: string): string | Misfit {
    const settings = this.#of.settingsOf(record);
    if ("reason" in settings) return settings;
    const restaurant = this.#restaurants.find(id);
    if (restaurant === undefined) {
      return { column: this.#of.restaurantColumn, reason: `restaurant ${JSON.stringify(id)} is not known` };
    }
    const disagreement = this.#of.disagreement(settings, restaurant);
    if (disagreement !== undefined) return disagreement;
    const row = this.#target.encode(this.#of.fieldsOf(record), restaurant, record.line);
    if (typeof row !== "string") return { column: this.#of.columnOf(row.column), reason: row.reason };
    this.#lines += 1;
    this.#of.lostQuotes?.look(record.fields, record.line);
    this.#load.unused?.take(record.fields);
    return row;
  }

  #leaveOut(record: CsvRecord, { restaurantId: id }: Line): string {
    this.#leftOut += 1;
    this.#of.lostQuotes?.learn(record.fields);
    const restaurant = typeof id === "string" ? this.#restaurants.find(id) : undefined;
    if (restaurant === undefined) return "";
    return this.#target.leaveOut?.(this.#of.fieldsOf(record), restaurant, record.line) ?? "";
  }

  #isKnown({ line }: CsvRecord): boolean {
    return line <= this.#knownLines && !this.#unknownLines.has(line);
  }
}
