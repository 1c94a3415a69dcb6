/** What the command line asks about restaurants: the engine knows keys, people know names and currencies. */
import { type Database, sqlFault } from "@nightwriter/database";
import type { Installation } from "./installation.ts";
import { didYouMean } from "./nearest.ts";
import { UsageFault } from "./usage-fault.ts";

/** Throws a UsageFault that names the first of the ids that the job does not know, and the nearest one that it does. */
export async function assertRestaurants({ database, job }: Installation, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const known = await knownKeys({ database, job }, ids);
  const unknown = ids.find((id) => !known.has(id));
  if (unknown === undefined) return;
  const near = didYouMean(unknown, [...(await knownKeys({ database, job }))]);
  throw new UsageFault(`restaurant ${unknown}: unknown${near}; import its sales first, or see its spelling`, {
    restaurant: unknown,
  });
}

/** The currencies of those ids that are restaurants. Throws SqlFault. */
export async function currenciesOf({ db }: Database, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  try {
    const rows = await db.selectFrom("sales.restaurant").select(["id", "currency"]).where("id", "in", ids).execute();
    return new Map(rows.map(({ id, currency }) => [id, currency]));
  } catch (error) {
    throw sqlFault(error);
  }
}

/** The job's keys: those among `ids`, or all. */
async function knownKeys(
  { database: { db }, job }: Pick<Installation, "database" | "job">,
  ids?: readonly string[],
): Promise<Set<string>> {
  try {
    const rows = await db
      .selectFrom(job.definition.keys(db).as("known"))
      .select("known.key")
      .$if(ids !== undefined, (query) => query.where("known.key", "in", ids ?? []))
      .execute();
    return new Set(rows.map(({ key }) => key));
  } catch (error) {
    throw sqlFault(error);
  }
}
