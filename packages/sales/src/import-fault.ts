/** What can be wrong with a file or with what is said about it. A bad line is data: it is listed, not thrown one by one. */
import { Fault, type FaultOptions } from "@nightwriter/core";

/**
 * - usage: `date_format_invalid`, `zone_unknown`, `cutoff_invalid`, `currency_unknown`, `delimiter_invalid`,
 *   `settings_missing` (a restaurant would be created and its zone or currency is not said), `column_missing`,
 *   `column_ambiguous`, `restaurant_unknown`, `restaurant_differs`, `skip_file_exists`, `skip_file_unwritable`
 * - the file: `file_unreadable`, `file_empty`, `file_encoding`, `file_changed`, `line_too_long`, `bad_lines`
 * - an import: `import_unknown`, `import_needed` (a later one has built on it), `date_closed`
 * - both: `in_doubt` (it would change a total in a way that may not be meant; the message names the options that say it is)
 */
export type ImportFaultCode =
  | "date_format_invalid"
  | "zone_unknown"
  | "cutoff_invalid"
  | "currency_unknown"
  | "delimiter_invalid"
  | "settings_missing"
  | "column_missing"
  | "column_ambiguous"
  | "restaurant_unknown"
  | "restaurant_differs"
  | "skip_file_exists"
  | "skip_file_unwritable"
  | "file_unreadable"
  | "file_empty"
  | "file_encoding"
  | "file_changed"
  | "line_too_long"
  | "bad_lines"
  | "import_unknown"
  | "import_needed"
  | "date_closed"
  | "in_doubt";

/** A line that cannot be recorded. */
export interface BadLine {
  /** Where the record begins, counted in lines of the file; the header is line 1. */
  readonly line: number;
  /** As the header spells it; undefined when the line as a whole is wrong. */
  readonly column: string | undefined;
  readonly reason: string;
}

/** Nothing was recorded. The codes are listed at {@link ImportFaultCode}. */
export class ImportFault extends Fault<ImportFaultCode> {
  override readonly name = "ImportFault";
  /** With `bad_lines`: the first of them; `details.count` says how many there are. Otherwise empty. */
  readonly badLines: readonly BadLine[];

  constructor(
    code: ImportFaultCode,
    message: string,
    { badLines = [], ...options }: FaultOptions & { badLines?: readonly BadLine[] } = {},
  ) {
    super(code, message, options);
    this.badLines = badLines;
  }
}
