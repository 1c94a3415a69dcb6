import { styleText } from "node:util";
import { getBorderCharacters, table } from "table";

export interface Column {
  readonly title: string;
  /** Default: left. Numbers and money stand right. */
  readonly align?: "left" | "right";
}

/** A table without lines, two blanks between its columns: for the eye, and for awk. Ends without a line break. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const head = columns.map(({ title }) => styleText("dim", title, { stream: process.stdout }));
  const text = table([head, ...rows.map((row) => row.map(printable))], {
    border: getBorderCharacters("void"),
    columnDefault: { paddingLeft: 0, paddingRight: 2 },
    columns: columns.map(({ align = "left" }) => ({ alignment: align })),
    drawHorizontalLine: () => false,
  });
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trimEnd();
}

/** A cell is one line without control characters, whatever a file or a database put into it; `table` refuses others. */
export function printable(cell: string): string {
  return cell.replaceAll(/\p{Cc}+/gu, " ");
}
