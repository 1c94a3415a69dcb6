/**
 * A pass over entries and source rows that leaves the (key, business date) pairs that need a closer look.
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
      return await findPairs(inspection, inBigint);
    } catch (error) {
      const fault = sqlFault(error);
      if (fault.sqlstate !== "22003") throw fault;
      await sql`rollback to savepoint pair_scan`.execute(db);
      return findPairs(inspection, inNumeric);
    }
  });
}

/** How amounts are added up. */
interface Arithmetic {
  readonly type: RawBuilder<unknown>;
  readonly sum: RawBuilder<unknown>;
}

const inBigint: Arithmetic = { type: sql`bigint`, sum: sql`nightwriter.sum_minor` };
/** Half as slow again; for when some pair's amounts add up to more than any bigint. */
const inNumeric: Arithmetic = { type: sql`numeric`, sum: sql`sum` };

async function findPairs(inspection: Inspection, arithmetic: Arithmetic): Promise<PairScope> {
  const { rows } = await sql<{ key: string; business_date: string }>`
    ${notPlain(inspection, arithmetic)}
    limit ${inspection.namedPairs + 1}::bigint`.execute(inspection.db);
  if (rows.length > inspection.namedPairs) return "all";
  return { keys: rows.map((row) => row.key), dates: rows.map((row) => row.business_date) };
}

/**
 * Entries count against source rows, in one grouping of both: a join of two groupings takes twice as long.
 *
 * The last id of a pair's rows stands for all of them: if it is below the snapshot's xmin it is visible in it, and so is
 * each below it. That ids of an older epoch are in between only costs a closer look.
 */
function notPlain(inspection: Inspection, { type, sum }: Arithmetic): RawBuilder<unknown> {
  const { job } = inspection;
  const stamped = job.definition.source.kind === "stamped";
  const stamps = stamped ? sql`source.epoch, source.xid` : sql`null::integer, null::xid8`;
  return sql`
    select either.key, either.business_date
    from (
      select source.key, source.business_date, source.amount_minor::${type}, 1::bigint, ${stamps}, null::integer, null::xid8
      from ${sourceRows(inspection)}
      where ${dated(inspection, "source")}
      union all
      select entry.key, entry.business_date, -entry.delta_minor::${type}, -entry.source_count, null, null, entry.epoch,
        pg_snapshot_xmin(entry.source_snapshot)
      from nightwriter.ledger_entry as entry
      where entry.job_id = ${job.id}::integer and ${dated(inspection, "entry")}
    ) as either(key, business_date, amount_minor, count, source_epoch, source_xid, entry_epoch, entry_xmin)
    group by either.key, either.business_date
    having (
      count(either.entry_epoch) = 1
      and ${sum}(either.amount_minor) = 0
      and ${sum}(either.count) = 0
      and (max(either.source_epoch) is null
        or max(either.source_epoch) < min(either.entry_epoch)
        or (max(either.source_epoch) = min(either.entry_epoch) and max(either.source_xid) < min(either.entry_xmin)))
    ) is not true`;
}

/** Whether the pair of `alias` is one of the scope. */
export function inScope(scope: PairScope, alias: string): RawBuilder<boolean> {
  if (scope === "all") return sql<boolean>`true`;
  const pair = sql`(${sql.ref(`${alias}.key`)}, ${sql.ref(`${alias}.business_date`)})`;
  return sql<boolean>`${pair} in (
    select given.key, given.business_date
    from unnest(${scope.keys}::text[], ${scope.dates}::date[]) as given(key, business_date))`;
}

export const nothingInScope: PairScope = { keys: [], dates: [] };

/** Both together; `all` if these are more pairs than may be named. */
export function joinScopes(
  one: PairScope,
  other: PairScope,
  { namedPairs }: Pick<Inspection, "namedPairs">,
): PairScope {
  if (one === "all" || other === "all" || one.keys.length + other.keys.length > namedPairs) return "all";
  return { keys: [...one.keys, ...other.keys], dates: [...one.dates, ...other.dates] };
}

/** Whether no pair is in it. */
export function isEmpty(scope: PairScope): boolean {
  return scope !== "all" && scope.keys.length === 0;
}
