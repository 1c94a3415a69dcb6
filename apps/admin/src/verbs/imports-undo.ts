import { loadConfig } from "@nightwriter/config";
import { assertSchemaCompatible } from "@nightwriter/database";
import { salesSchema } from "@nightwriter/sales";
import { type UndoneImport, undoImport } from "@nightwriter/sales/imports";
import { actor } from "../actor.ts";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { openLogger } from "../open-logger.ts";
import { plural } from "../output/format.ts";
import { formatSums } from "../output/money.ts";
import { startProgress } from "../output/progress.ts";
import type { Terminal } from "../terminal.ts";
import { UsageFault } from "../usage-fault.ts";

export interface UndoVerbOptions {
  readonly id: bigint;
  readonly reason?: string | undefined;
  readonly dryRun: boolean;
}

/** Takes an import back, or says what would be taken back. */
export async function undoOfImport(terminal: Terminal, { id, reason = "", dryRun }: UndoVerbOptions): Promise<Answer> {
  if (!dryRun && reason === "")
    throw new UsageFault("imports undo: say why with --reason, for the audit log; or --dry-run");
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  await using database = await connectDatabase({ config, verb: "imports undo", logger, patient: true });
  await assertSchemaCompatible(database);
  await assertSchemaCompatible(database, salesSchema);
  const progress = startProgress(terminal, { label: "rows reversed" });
  let undone: UndoneImport;
  try {
    undone = await undoImport(database, {
      id,
      actor: actor(),
      reason,
      dryRun,
      onWait: () => terminal.note("an import is at work; waits for it"),
      onProgress: (rows, of) => progress.update(rows, of),
    });
  } finally {
    progress.stop();
  }
  return answer({
    inOrder: true,
    document: { import: id, dryRun, ...undone, undo: dryRun ? undefined : undone.undo },
    text: undoneText(undone, { id, dryRun }),
  });
}

function undoneText(undone: UndoneImport, { id, dryRun }: Pick<UndoVerbOptions, "id" | "dryRun">): string {
  const { changed, file, undo, rows, sums, businessDates } = undone;
  const name = `import ${id} (${file})`;
  if (!changed) return `${name}: is undone already; nothing was changed`;
  const [first] = businessDates;
  const dates =
    first === undefined
      ? ""
      : `, ${plural(businessDates.length, "business date")} from ${first} to ${businessDates.at(-1)}`;
  const what = `${plural(rows, "row")}, ${formatSums(sums)}${dates}`;
  if (dryRun) return `${name}: would be undone by ${what}; nothing was changed`;
  return `${name}: undone by ${what} (import ${undo}); the next night adds the difference`;
}
