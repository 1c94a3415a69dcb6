import { loadConfig } from "@nightwriter/config";
import { assertSchemaCompatible } from "@nightwriter/database";
import { salesSchema } from "@nightwriter/sales";
import { type ListedImport, listImports } from "@nightwriter/sales/imports";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { openLogger } from "../open-logger.ts";
import { formatCount } from "../output/format.ts";
import { formatSums } from "../output/money.ts";
import { renderTable } from "../output/table.ts";
import type { Terminal } from "../terminal.ts";

/** Says what was imported, the newest first. */
export async function listOfImports(
  terminal: Terminal,
  { restaurant, limit }: { readonly restaurant?: string | undefined; readonly limit: number },
): Promise<Answer> {
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  await using database = await connectDatabase({ config, verb: "imports list", logger });
  await assertSchemaCompatible(database);
  await assertSchemaCompatible(database, salesSchema);
  const imports = await listImports(database, { limit, ...(restaurant !== undefined && { restaurant }) });
  const text = imports.length === 0 ? "nothing was imported" : importsTable(imports);
  return answer({ inOrder: true, document: { imports }, text });
}

const columns = [
  { title: "import", align: "right" },
  { title: "when" },
  { title: "by" },
  { title: "file" },
  { title: "restaurant" },
  { title: "added", align: "right" },
  { title: "known", align: "right" },
  { title: "corrected", align: "right" },
  { title: "sum", align: "right" },
  { title: "dates" },
  { title: "" },
] as const;

function importsTable(imports: readonly ListedImport[]): string {
  const rows = imports.map((each) => [
    String(each.id),
    each.importedAt.toISOString().slice(0, 16).replace("T", " "),
    each.actor ?? "",
    each.file,
    each.restaurant ?? "by column",
    ...[each.added, each.known, each.corrected].map((count) => formatCount(Number(count))),
    formatSums(each.sums),
    datesText(each),
    stateText(each),
  ]);
  return renderTable(columns, rows);
}

export function datesText({ firstDate, lastDate }: ListedImport): string {
  if (firstDate === null || lastDate === null) return "";
  return firstDate === lastDate ? firstDate : `${firstDate} to ${lastDate}`;
}

export function stateText({ undoes, undoneBy, skipped }: ListedImport): string {
  const left = skipped > 0n ? [`${skipped} bad lines left out`] : [];
  const undo = undoes === null ? [] : [`undo of ${undoes}`];
  const undone = undoneBy === null ? [] : [`undone by ${undoneBy}`];
  return [...undo, ...undone, ...left].join(", ");
}
