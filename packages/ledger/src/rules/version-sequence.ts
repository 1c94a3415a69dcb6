/** Versions of a key are 1, 2, 3 … n: a gap is an entry that was lost, a fork is two histories of one total. */
import { sql } from "kysely";
import type { ChainCheck } from "./chain-check.ts";
import { findViolations, type Inspection, type ViolationRow } from "./inspection.ts";
import type { Finding } from "./rule.ts";

/** The first has no predecessor, and every other one has. */
export const versionSequence: readonly ChainCheck[] = [
  {
    rule: "version-sequence",
    measure: "version before",
    broken: sql<boolean>`((previous.key is null) <> (entry.version_after = 1))`,
    expected: sql`entry.version_after - 1`,
    actual: sql`previous.version_after`,
  },
];

/**
 * Versions that several entries have. Each is told once, with the date and the run of the entry that was written last.
 *
 * Without a gap, a key has more entries than its last version says if and only if there is a fork; so only keys where these differ
 * are looked at. A fork and a gap may hide each other there: then the gap is told.
 */
export async function findForks(inspection: Inspection): Promise<Finding[]> {
  const job = sql`${inspection.job.id}::integer`;
  return findViolations(
    inspection,
    sql<ViolationRow>`
      select distinct on (entry.key, entry.version_after)
        'version-sequence' as rule, 'entries' as measure, entry.key, entry.business_date, entry.run_id,
        entry.version_after as version, '1' as expected, fork.entries::text as actual
      from (
        select key, version_after, count(*) as entries
        from nightwriter.ledger_entry
        where job_id = ${job} and key in (
          select key from nightwriter.ledger_entry where job_id = ${job} group by key having count(*) <> max(version_after)
        )
        group by key, version_after
        having count(*) > 1
      ) as fork
      join nightwriter.ledger_entry as entry
        on entry.job_id = ${job} and entry.key = fork.key and entry.version_after = fork.version_after
      order by entry.key, entry.version_after, entry.epoch desc, entry.xid desc`,
  );
}
