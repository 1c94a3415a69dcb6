import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { sql } from "kysely";
import type { DueItem } from "./due-item-store.ts";
import { dueItemsQuery } from "./unapplied-items.ts";

/**
 * Raises the generation of each item that is still due and still has the generation it is given with, and returns these items
 * with their new one. Of two callers with the same items each is raised by exactly one. Throws SqlFault.
 */
export async function raiseGenerations({ db }: Database, job: Job, items: readonly DueItem[]): Promise<DueItem[]> {
  if (items.length === 0) return [];
  // Rows are locked in the order of the array, which is that of dueItems: two callers cannot deadlock.
  const column = <Value>(of: (item: DueItem) => Value): Value[] => items.map(of);
  const given = sql<{ run_id: bigint; business_date: string; key: string; generation: number }>`unnest(
    ${column((item) => item.runId)}::bigint[], ${column((item) => item.businessDate)}::date[],
    ${column((item) => item.key)}::text[], ${column((item) => item.generation)}::integer[])`;
  try {
    const rows = await db
      .with("given", (cte) =>
        cte
          .selectFrom(given.as<"seen">(sql`seen(run_id, business_date, key, generation)`))
          .innerJoinLateral(
            () =>
              dueItemsQuery(db, job)
                .select("it.generation")
                .whereRef("it.run_id", "=", sql.ref("seen.run_id"))
                .whereRef("it.business_date", "=", sql.ref("seen.business_date"))
                .whereRef("it.key", "=", sql.ref("seen.key"))
                .whereRef("it.generation", "=", sql.ref("seen.generation"))
                .limit(1)
                .forNoKeyUpdate()
                .as("locked"),
            (join) => join.onTrue(),
          )
          .selectAll("seen"),
      )
      .updateTable("nightwriter.run_item as it")
      .from("given")
      .set({ generation: sql<number>`it.generation + 1` })
      .whereRef("it.run_id", "=", "given.run_id")
      .whereRef("it.business_date", "=", "given.business_date")
      .whereRef("it.key", "=", "given.key")
      .whereRef("it.generation", "=", "given.generation")
      .where("it.status", "=", "due")
      .returning(["it.run_id", "it.business_date", "it.key", "it.partition", "it.generation"])
      .execute();
    return rows.map((row) => ({
      runId: row.run_id.toString(),
      businessDate: row.business_date,
      key: row.key,
      partition: row.partition,
      generation: row.generation,
    }));
  } catch (error) {
    throw sqlFault(error);
  }
}
