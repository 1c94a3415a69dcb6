import { type Actor, recordAudit } from "@nightwriter/audit";
import { type Database, sqlFault } from "@nightwriter/database";
import { sql } from "kysely";
import { currentInstallation, type Installation } from "./installation.ts";

/** Which installation the database was, and which one it is now. */
export interface Fork {
  readonly before: Installation;
  readonly after: Installation;
}

/**
 * Afterwards this database is another installation than the one it was copied from: for a physical copy that is to live beside
 * its original. Nothing else changes; transaction ids go on as they did, so the epoch stays. Processes that run on it
 * still go by the former id: stop them before. Throws SqlFault.
 */
export async function forkInstallation(
  database: Database,
  { actor, reason }: { readonly actor: Actor; readonly reason: string },
): Promise<Fork> {
  try {
    return await database.db.transaction().execute(async (transaction) => {
      const within = { ...database, db: transaction };
      const before = await currentInstallation(within);
      await transaction
        .updateTable("nightwriter.epoch")
        .set({ installation: sql<string>`gen_random_uuid()` })
        .where("epoch", "=", (query) =>
          query.selectFrom("nightwriter.epoch").select(({ fn }) => fn.max("epoch").as("last")),
        )
        .execute();
      const after = await currentInstallation(within);
      await recordAudit(transaction, { actor, verb: "installation fork", reason, before, after });
      return { before, after };
    });
  } catch (error) {
    throw sqlFault(error);
  }
}
