/**
 * The statements on nightwriter.claim: whose leases of a prefix are kept in this database. A row is bound to the cluster and
 * database that it was written in, so one that a dump has brought along is nobody's claim here.
 */
import type { Schema } from "@nightwriter/database";
import { type ClaimSlot, claimPlace } from "@nightwriter/installation";
import { type Kysely, type RawBuilder, sql } from "kysely";

const place: RawBuilder<string> = sql.raw(claimPlace);

/** The row of one prefix. Errors are the driver's own. */
export function claimTable(db: Kysely<Schema>, prefix: string): Omit<ClaimSlot, "label"> {
  const read = async (): Promise<string | undefined> => {
    const found = await db
      .selectFrom("nightwriter.claim")
      .select("claim")
      .where("prefix", "=", prefix)
      .where("place", "=", place)
      .executeTakeFirst();
    return found?.claim;
  };
  return {
    read,
    async replace(before, claim) {
      if (before === undefined) {
        await db
          .insertInto("nightwriter.claim")
          .values({ prefix, place, claim })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      } else {
        await db
          .updateTable("nightwriter.claim")
          .set({ claim })
          .where("prefix", "=", prefix)
          .where("place", "=", place)
          .where("claim", "=", before)
          .execute();
      }
      return read();
    },
  };
}
