import { ImportFault } from "../import-fault.ts";

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
    const [index] = exact.length === 1 ? exact : found;
    if (index === undefined) throw missing(column, header, file);
    if (found.length > 1 && exact.length !== 1) {
      throw new ImportFault(
        "column_ambiguous",
        `${file}: has ${found.length} columns ${quoted(column)}; rename one of them`,
        {
          details: { file, column },
        },
      );
    }
    return index;
  });
}

/** Whether there is such a column, whatever its case. */
export function hasColumn(header: readonly string[], column: string): boolean {
  return header.some((each) => plain(each) === plain(column));
}

function plain(name: string): string {
  return name.trim().normalize("NFC").toLowerCase();
}

function quoted(name: string): string {
  return JSON.stringify(name.trim().slice(0, 80));
}

function missing(column: string, header: readonly string[], file: string): ImportFault {
  const there = header.slice(0, 100).map(quoted).join(", ");
  const other = header.length === 1 ? [";", "\t", ",", "|"].find((each) => header[0]?.includes(each)) : undefined;
  const hint = other === undefined ? "" : `; is the delimiter ${JSON.stringify(other)}?`;
  return new ImportFault("column_missing", `${file}: has no column ${quoted(column)}; it has ${there}${hint}`, {
    details: { file, column },
  });
}
