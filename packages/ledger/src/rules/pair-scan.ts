/**
 * One pass over entries and source rows that leaves the (key, business date) pairs that need a closer look.
 *
 * A pair is plain if it has one entry, whose delta and count are the sum and the number of all its source rows, and whose
 * snapshot saw every one of them. For a plain pair, the rules about pairs hold by what it is. Nearly all pairs are plain; the
 * rules themselves are asked about the others only, and about everything if these are too many to be named.
 */
import { sqlFault } from "@nightwriter/database";
import { type RawBuilder, sql } from "kysely";
import { dated, type Inspection, sourceRows } from "./inspection.ts";
import { wholeTables } from "./whole-tables.ts";

/** The pairs that a rule is asked about: `keys[i]` with `dates[i]`, or every one. */
export type PairScope = "all" | { readonly keys: readonly string[]; readonly dates: readonly string[] };

/** Returns the pairs that are not plain. Throws the driver's error. */
export async function scanPairs(inspection: Inspection): Promise<PairScope> {
  const { db } = inspection;
  return wholeTables(db, async () => {
    await sql`savepoint pair_scan`.execute(db);
    try {
      return await findPairs(inspection, sql`nightwriter.sum_minor`);
    } catch (error) {
      const fault = sqlFault(error);
      if (fault.sqlstate !== "22003") throw fault;
      // Some pair's rows add up to more than any bigint. Numeric holds it, and takes half as long again.
      await sql`rollback to savepoint pair_scan`.execute(db);
      return findPairs(inspection, sql`sum`);
    }
  });
}

async function findPairs(inspection: Inspection, sum: RawBuilder<unknown>): Promise<PairScope> {
  const { rows } = await sql<{ key: string; business_date: string }>`
    ${differingPairs(inspection, sum)}
    union
    ${repeatedPairs(inspection)}
    limit ${inspection.namedPairs + 1}::bigint`.execute(inspection.db);
  if (rows.length > inspection.namedPairs) return "all";
  return { keys: rows.map((row) => row.key), dates: rows.map((row) => row.business_date) };
}

/**
 * Pairs that differ if they have one entry. The last id of a pair's rows stands for all of them: an id below the
 * snapshot's xmin is visible in it, and so is each below that one. An older epoch's larger id only costs a closer look.
 */
function differingPairs(inspection: Inspection, sum: RawBuilder<unknown>): RawBuilder<unknown> {
  const { job } = inspection;
  const stamped = job.definition.source.kind === "stamped";
  const last = stamped ? sql`, max(source.epoch) as epoch, max(source.xid) as xid` : sql``;
  const seen = stamped
    ? sql`(owed.key is null or owed.epoch < entry.epoch
        or (owed.epoch = entry.epoch and owed.xid < pg_snapshot_xmin(entry.source_snapshot)))`
    : sql`true`;
  return sql`
    select coalesce(entry.key, owed.key) as key, coalesce(entry.business_date, owed.business_date) as business_date
    from (
      select it.key, it.business_date, it.delta_minor, it.source_count, it.source_snapshot, it.epoch
      from nightwriter.ledger_entry as it
      where it.job_id = ${job.id}::integer and ${dated(inspection, "it")}
    ) as entry
    full join (
      select source.key, source.business_date, ${sum}(source.amount_minor) as amount_minor, count(*) as count ${last}
      from ${sourceRows(inspection)}
      where ${dated(inspection, "source")}
      group by source.key, source.business_date
    ) as owed on owed.key = entry.key and owed.business_date = entry.business_date
    where (entry.delta_minor = coalesce(owed.amount_minor, 0) and entry.source_count = coalesce(owed.count, 0)
      and ${seen}) is not true`;
}

/** Pairs that have several entries, of whichever runs. */
function repeatedPairs(inspection: Inspection): RawBuilder<unknown> {
  return sql`
    select it.key, it.business_date
    from nightwriter.ledger_entry as it
    where it.job_id = ${inspection.job.id}::integer and ${dated(inspection, "it")}
    group by it.key, it.business_date
    having count(*) > 1`;
}

/** Whether the pair of `alias` is one of the scope. */
export function inScope(scope: PairScope, alias: string): RawBuilder<boolean> {
  if (scope === "all") return sql<boolean>`true`;
  const pair = sql`(${sql.ref(`${alias}.key`)}, ${sql.ref(`${alias}.business_date`)})`;
  return sql<boolean>`${pair} in (
    select given.key, given.business_date
    from unnest(${scope.keys}::text[], ${scope.dates}::date[]) as given(key, business_date))`;
}

/** Whether no pair is in it. */
export function isEmpty(scope: PairScope): boolean {
  return scope !== "all" && scope.keys.length === 0;
}
