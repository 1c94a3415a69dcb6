import { loadConfig } from "@nightwriter/config";
import { migrateToLatest, pendingSql } from "@nightwriter/database";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { openLogger } from "../open-logger.ts";
import { plural } from "../output/format.ts";
import type { Terminal } from "../terminal.ts";

/** Brings the schema up to date, or says with which SQL that would be done. */
export async function migrate(terminal: Terminal, { dryRun }: { dryRun: boolean }): Promise<Answer> {
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  // Patient: a migration takes as long as it takes, and what it waits for is another one.
  await using database = await connectDatabase({ config, verb: "migrate", logger, patient: true });
  if (dryRun) {
    const pending = await pendingSql(database);
    const sql = pending.map((statement) => (statement.startsWith("--") ? statement : `${statement};`));
    const text = pending.length === 0 ? "-- up to date: nothing to run" : sql.join("\n");
    return answer({ inOrder: true, document: { pending }, text });
  }
  const { applied, epoch } = await migrateToLatest(database);
  const lines = applied.map((name) => `applied ${name}`);
  if (epoch.started && epoch.epoch > 1) lines.push(`epoch ${epoch.epoch} begins: the data came from another cluster`);
  lines.push(applied.length === 0 ? "up to date" : `${plural(applied.length, "migration")} applied`);
  return answer({ inOrder: true, document: { applied, epoch }, text: lines.join("\n") });
}
