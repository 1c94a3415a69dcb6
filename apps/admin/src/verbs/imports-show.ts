import { loadConfig } from "@nightwriter/config";
import { assertSchemaCompatible } from "@nightwriter/database";
import { salesSchema } from "@nightwriter/sales";
import { type ShownImport, showImport } from "@nightwriter/sales/imports";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { openLogger } from "../open-logger.ts";
import { formatSums } from "../output/money.ts";
import { renderTable } from "../output/table.ts";
import type { Terminal } from "../terminal.ts";
import { datesText, stateText } from "./imports-list.ts";

/** Says all that is kept about an import. */
export async function showOfImport(terminal: Terminal, id: bigint): Promise<Answer> {
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  await using database = await connectDatabase({ config, verb: "imports show", logger });
  await assertSchemaCompatible(database);
  await assertSchemaCompatible(database, salesSchema);
  const shown = await showImport(database, id);
  return answer({ inOrder: true, document: { import: shown }, text: shownText(shown) });
}

function shownText(shown: ShownImport): string {
  const { id, kept, added, known, corrected, takenBack, leftOut, skipped, reading, options } = shown;
  const state = stateText(shown);
  const rows: (readonly [string, string])[] = [
    ["import", state === "" ? String(id) : `${id}, ${state}`],
    ["when", shown.importedAt.toISOString()],
    ["by", shown.actor === null ? "not noted" : `${shown.actor} on ${shown.host ?? "an unnamed host"}`],
    ["reason", shown.reason ?? ""],
    ["file", shown.file],
    ["restaurant", shown.restaurant ?? "by column"],
    ["source", shown.feed],
    ["options", Object.keys(options).length === 0 ? "" : JSON.stringify(options)],
    ["read with", reading === null ? "not noted" : readingText(reading)],
    ["sales", `${kept} kept, ${added} added, ${known} known, ${corrected} corrected, ${takenBack} taken back`],
    [
      "other lines",
      `${leftOut} left out, ${skipped} bad${shown.skipFile === null ? "" : `, written to ${shown.skipFile}`}`,
    ],
    ["sum", formatSums(shown.sums)],
    ["dates", datesText(shown)],
    ["built on", shown.needs.join(", ")],
    ["built on it", shown.neededBy.length === 0 ? "" : `${shown.neededBy.join(", ")}; these are undone first`],
  ];
  return renderTable(
    [{ title: "" }, { title: "" }],
    rows.filter(([, text]) => text !== ""),
  );
}

function readingText(reading: NonNullable<ShownImport["reading"]>): string {
  const texts = Object.entries(reading).flatMap(([option, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) =>
      each === true ? option : `${option} ${JSON.stringify(each)}`,
    ),
  );
  return texts.length === 0 ? "nothing said" : texts.join(" ");
}
