import type { Schema } from "@nightwriter/database";
import { sql, type Transaction } from "kysely";

/**
 * Runs `work` without index scans and merge joins. For passes over everything: the planner takes the order that an index
 * offers for a gift and fetches each row by itself for it, which takes ten times as long as hashing what a sequential scan reads.
 */
export async function wholeTables<Result>(db: Transaction<Schema>, work: () => Promise<Result>): Promise<Result> {
  await sql`set local enable_indexscan = off`.execute(db);
  await sql`set local enable_mergejoin = off`.execute(db);
  const result = await work();
  await sql`set local enable_indexscan to default`.execute(db);
  await sql`set local enable_mergejoin to default`.execute(db);
  return result;
}
