/** What import and open have in common: how a file is read, and what a person sees of its bad lines. */
import { type BadLine, ImportFault } from "@nightwriter/sales";
import { renderTable } from "./output/table.ts";
import type { Terminal } from "./terminal.ts";

/** Bad lines that are told one by one. */
export const badLinesShown = 20;

/** The delimiter as it was meant: nobody can type a tab. */
export function delimiterFrom(text: string): string {
  return text === String.raw`\t` ? "\t" : text;
}

/** Shows the lines for which a file was refused; a JSON document has them anyway. */
export function noteBadLines(terminal: Terminal, error: unknown): void {
  if (!(error instanceof ImportFault) || error.badLines.length === 0 || terminal.json) return;
  terminal.note(badLinesTable(error.badLines));
}

/** Line, column and what is wrong with it. */
export function badLinesTable(badLines: readonly BadLine[]): string {
  return renderTable(
    [{ title: "line", align: "right" }, { title: "column" }, { title: "what is wrong" }],
    badLines.map(({ line, column, reason }) => [String(line), column ?? "", reason]),
  );
}
