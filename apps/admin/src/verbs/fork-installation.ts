import { loadConfig } from "@nightwriter/config";
import { assertSchemaCompatible } from "@nightwriter/database";
import { currentInstallation, forkInstallation } from "@nightwriter/installation";
import { actor } from "../actor.ts";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { openLogger } from "../open-logger.ts";
import type { Terminal } from "../terminal.ts";

export interface ForkOptions {
  readonly reason: string;
  readonly dryRun: boolean;
}

/** Makes this database another installation than the one it was copied from. */
export async function forkThisInstallation(terminal: Terminal, { reason, dryRun }: ForkOptions): Promise<Answer> {
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  await using database = await connectDatabase({ config, verb: "installation fork", logger });
  await assertSchemaCompatible(database);
  if (dryRun) {
    const before = await currentInstallation(database);
    const text = `database ${before.database}: is installation ${before.id}; would become another`;
    return answer({ inOrder: true, document: { changed: false, before }, text });
  }
  const { before, after } = await forkInstallation(database, { actor: actor(), reason });
  return answer({
    inOrder: true,
    document: { changed: true, before, after },
    text: [
      `database ${after.database}: was installation ${before.id}, is installation ${after.id} from now on`,
      "give it a QUEUE_PREFIX of its own; processes that were started before go by the former id until they are started again",
    ].join("\n"),
  });
}
