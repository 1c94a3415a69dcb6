import { closestMatch } from "leven";
import { ImportFault } from "../import-fault.ts";
import { notUtf8 } from "./not-utf8.ts";

/**
 * Where the wanted columns stand in a header, in the order they are asked for. Case and blanks around a name do not
 * count; of two columns that differ in nothing else, the one that is spelled exactly so is meant.
 * Throws ImportFault `column_missing`, which says what columns there are, or `column_ambiguous`.
 */
export function findColumns(header: readonly string[], wanted: readonly string[], file: string): number[] {
  const there = header.map(plain);
  return wanted.map((column) => {
    const found = there.flatMap((each, index) => (each === plain(column) ? [index] : []));
    const exact = header.flatMap((each, index) => (each === column ? [index] : []));
    const [index = numbered(there, column)] = exact.length === 1 ? exact : found;
    if (index === undefined) throw missing(column, header, file);
    if (found.length > 1 && exact.length !== 1) {
      throw new ImportFault(
        "column_ambiguous",
        `${file}: has ${found.length} columns ${quoted(column)}; say which, as ${found.map((_, at) => quoted(`${column}#${at + 1}`)).join(" or ")}`,
        {
          details: { file, column },
        },
      );
    }
    return index;
  });
}

/** `Total#2`: the second one of that name. */
function numbered(there: readonly string[], column: string): number | undefined {
  const [, text = "", number] = /^(.*)#(\d+)$/su.exec(column) ?? [];
  return there.flatMap((each, index) => (each === plain(text) ? [index] : []))[Number(number) - 1];
}

/** Whether there is such a column, whatever its case. */
export function hasColumn(header: readonly string[], column: string): boolean {
  return header.some((each) => plain(each) === plain(column));
}

function plain(name: string): string {
  return name.normalize("NFC").trim().replaceAll(/\s+/gu, " ").toLowerCase();
}

function quoted(name: string): string {
  return JSON.stringify(name.trim().slice(0, 80));
}

function missing(column: string, header: readonly string[], file: string): ImportFault {
  const there = header.slice(0, 100).map(quoted).join(", ");
  const other = header.length === 1 ? [";", "\t", ",", "|"].find((each) => header[0]?.includes(each)) : undefined;
  const hint = other === undefined ? hintOf(column, header) : `; is the delimiter ${JSON.stringify(other)}?`;
  return new ImportFault("column_missing", `${file}: has no column ${quoted(column)}; it has ${there}${hint}`, {
    details: { file, column },
  });
}

/** What seems to be the matter. */
function hintOf(column: string, header: readonly string[]): string {
  const cells = header.map((cell) => cell.trim());
  if (
    cells.some((cell) => /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}\b/u.test(cell)) &&
    cells.some((cell) => /^[-(]?\p{Sc}?[\d.,]+\)?$/u.test(cell))
  ) {
    return "; its first line looks like a sale: put a line with the names of the columns in front of it";
  }
  if (cells.some((cell) => cell.includes("\uFFFD"))) return `; the file ${notUtf8}`;
  const maxDistance = Math.max(1, Math.floor(column.length / 3));
  const near = closestMatch(plain(column), header.map(plain), { maxDistance });
  const found = near === undefined ? undefined : header[header.map(plain).indexOf(near)];
  if (found !== undefined) return ` (did you mean ${quoted(found)}?)`;
  return header.length === 1 ? "; if lines stand before the header, say how many with --skip-lines" : "";
}
