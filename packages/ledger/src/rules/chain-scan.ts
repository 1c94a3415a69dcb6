/**
 * One pass over the ledger that holds each entry against the one before it. A chain rule is a condition on such a pair;
 * all of them are asked in this pass.
 *
 * The pass is a hash join of the ledger with itself, which is half the work of a sort and window functions.
 */
import { type RawBuilder, sql } from "kysely";
import type { ChainCheck } from "./chain-check.ts";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import { queryOrder } from "./query-order.ts";
import type { Finding } from "./rule.ts";
import { snapshotOrder } from "./snapshot-order.ts";
import { tokenOrder } from "./token-order.ts";
import { totalsChain } from "./totals-chain.ts";
import { versionSequence } from "./version-sequence.ts";
import { wholeTables } from "./whole-tables.ts";

const checks: readonly ChainCheck[] = [
  ...versionSequence,
  ...totalsChain,
  ...tokenOrder,
  ...queryOrder,
  ...snapshotOrder,
];

export async function scanChain(inspection: Inspection): Promise<Finding[]> {
  return wholeTables(inspection.db, () => findViolations(inspection, brokenLinks(inspection)));
}

function brokenLinks({ job }: Inspection): RawBuilder<ViolationRow> {
  const any = sql.join(
    checks.map((check) => sql`${check.broken}`),
    sql` or `,
  );
  const each = sql.join(
    checks.map(
      ({ rule, measure, broken, expected, actual }) =>
        sql`(${sql.lit(rule)}, ${sql.lit(measure)}, ${broken}, (${expected})::text, (${actual})::text)`,
    ),
  );
  return sql<ViolationRow>`
    select link.rule, link.measure, entry.key, entry.business_date, entry.run_id, entry.version_after as version,
      link.expected, link.actual
    from nightwriter.ledger_entry as entry
    left join nightwriter.ledger_entry as previous
      on previous.job_id = ${job.id}::integer
      and previous.key = entry.key
      and previous.version_after = entry.version_after - 1
    cross join lateral (values ${each}) as link(rule, measure, broken, expected, actual)
    where entry.job_id = ${job.id}::integer and (${any}) and link.broken`;
}
