/** What an import is told, and what it answers. */
import type { Actor } from "@nightwriter/audit";
import type { Acceptance } from "../acceptances.ts";
import type { BadLine } from "../import-fault.ts";
import type { AmountColumns } from "../read/amount.ts";
import type { FileOptions } from "../read/csv-file.ts";
import type { RowFilterOptions } from "../read/row-filter.ts";
import type { DateColumns } from "../read/sale-date.ts";
import type { RestaurantOptions } from "../restaurants/restaurant-store.ts";
import type { RestaurantChoice } from "./load-lines.ts";

export interface ImportOptions extends FileOptions, RestaurantOptions, RowFilterOptions {
  readonly restaurant: RestaurantChoice;
  readonly date: DateColumns;
  readonly amount: AmountColumns;
  /** The columns that make a sale's id, unique within a restaurant and `feed`. Default: sales have none, and lines are known by what they say. */
  readonly idColumns?: readonly string[];
  /** Where the file comes from, if a restaurant has several such: a till, a platform. Default: there is one only. */
  readonly feed?: string;
  /** Records the good lines and writes the bad ones to this path, which must not exist. Default: one bad line refuses the file. */
  readonly skipBad?: string;
  /** What is meant, of what would be refused because it is in doubt. Default: nothing. */
  readonly accept?: ReadonlySet<Acceptance>;
  /** Does it all, says what would come of it, and takes it back: nothing stays, no skip file either. Default: false. */
  readonly dryRun?: boolean;
  /** The options as they were typed, by name, for `imports show`. Default: none are kept. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Who imports, for `imports list`. Default: nobody is named. */
  readonly actor?: Actor;
  /** How many bad lines are told one by one. Default: 100; all are counted. */
  readonly maxBadLines?: number;
  /** Called for every 64 KiB or so. */
  readonly onProgress?: (progress: ImportProgress) => void;
}

export interface ImportProgress {
  /** `waiting`: another import is at work. `comparing`: finds out what is known of the file. `recording`: the rest. */
  readonly phase: "waiting" | "comparing" | "recording";
  readonly bytesRead: number;
  /** Undefined until it is known. */
  readonly bytesTotal: number | undefined;
  /** Lines of the file that were read while recording. */
  readonly lines: number;
}

/** What a dry run shows besides. */
export interface ImportLook {
  readonly delimiter: string;
  readonly encoding: string;
  readonly header: readonly string[];
  /** The first lines as they are recorded. */
  readonly firstLines: readonly ReadLine[];
  /** What is recorded now, by restaurant; the largest first, up to a hundred. */
  readonly restaurants: readonly RestaurantLook[];
}

/** A sale as its line says it. */
export interface ReadLine {
  readonly line: number;
  readonly restaurant: string;
  readonly businessDate: string;
  /** On the restaurant's wall clock; undefined: the file does not say it. */
  readonly localTime: string | undefined;
  readonly amountMinor: bigint;
  readonly currency: string;
}

export interface RestaurantLook {
  readonly id: string;
  readonly currency: string;
  /** Made by this import. */
  readonly isNew: boolean;
  readonly sales: number;
  readonly sumMinor: bigint;
  readonly firstDate: string;
  readonly lastDate: string;
}

export type ImportResult =
  | {
      readonly outcome: "imported";
      /** The number of the import, for `imports show` and `undo`. Undefined: nothing was recorded, or only for a look, and it is not remembered. */
      readonly id: bigint | undefined;
      /** What `sales.sale.source` says of these lines. */
      readonly source: string;
      /** Sales recorded now. */
      readonly lines: number;
      /** Lines of the file that are recorded already: it grew or was mended, or their ids or `only-new` say so. */
      readonly knownLines: number;
      /** Sales whose amount or date was another one before: further rows have set it right. */
      readonly corrected: number;
      /** Of the known lines: sales that had been recorded without an id. */
      readonly adopted: number;
      /** Lines that repeated the amount of an id. */
      readonly repeated: number;
      /** Lines that `only` or `except` left out. */
      readonly leftOut: number;
      /** Of these: sales that were recorded before, and are taken back. */
      readonly takenBack: number;
      /** Bad lines, written to the file named by `skipBad`. */
      readonly skipped: number;
      /** The first of them. */
      readonly badLines: readonly BadLine[];
      readonly restaurantsCreated: number;
      /** False: the last line has no end, and may be half of one. What comes of it is corrected when the file comes again. */
      readonly endsLine: boolean;
      /** What was recorded now, in minor units by currency. */
      readonly sums: ReadonlyMap<string, bigint>;
      /** The business dates of what was recorded now, in order. */
      readonly businessDates: readonly Temporal.PlainDate[];
      /** What looks as if it might not be meant. */
      readonly warnings: readonly string[];
      /** How the file was read, and whose the sales are. Undefined: it was no dry run. */
      readonly look: ImportLook | undefined;
    }
  | {
      /** This content was imported for this restaurant before, and read in the same way; nothing was changed. */
      readonly outcome: "duplicate";
      /** The number of that import. */
      readonly id: bigint;
      readonly source: string;
      /** The name the file had then, and when that was. */
      readonly name: string;
      readonly importedAt: Temporal.Instant;
      /** How many bad lines it left out, and where they were written to. */
      readonly skipped: number;
      readonly skipFile?: string;
    };
