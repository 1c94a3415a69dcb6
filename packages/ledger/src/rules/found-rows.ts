/**
 * What checks find, with an id for each finding, and with what somebody said of it.
 *
 * An acknowledgement is bound to the finding's content, number by number. The id is a hash of it, for people to type; whether it is
 * the same finding, the content itself decides.
 */
import { invariant } from "@nightwriter/core";
import type { Job } from "@nightwriter/job";
import { type RawBuilder, sql } from "kysely";
import type { Acknowledged, Finding, RuleName, Violation } from "./rule.ts";

/** The columns of a query of violations; amounts as text, since sums can be larger than any bigint. */
export interface ViolationRow {
  rule: RuleName;
  measure: string;
  key: string | null;
  business_date: string | null;
  run_id: bigint | null;
  version: bigint | null;
  expected: string | null;
  actual: string | null;
}

/** With what was said of it: null, unless it is acknowledged as it stands. */
export interface FoundRow extends ViolationRow {
  finding: string;
  reason_given: string | null;
  given_by: string | null;
  given_at: Date | null;
}

/** The rows of `found` with their ids and acknowledgements; whatever columns they have besides come along. */
export function foundRows(job: Job, found: RawBuilder<unknown>): RawBuilder<FoundRow> {
  return sql<FoundRow>`
    select found.*, given.reason as reason_given, given.actor as given_by, given.acknowledged_at as given_at
    from (
      select each.*, left(encode(sha256(convert_to(jsonb_build_array(
        each.rule, each.measure, each.key, each.business_date, each.run_id, each.version, each.expected, each.actual
      )::text, 'UTF8')), 'hex'), 16) as finding
      from (${found}) as each
    ) as found
    left join (
      select distinct on (finding) * from nightwriter.acknowledgement
      where job_id = ${job.id}::integer order by finding, id desc
    ) as given
      on given.finding = found.finding collate "C" and not given.is_withdrawn
      and (given.rule, given.measure, given.key, given.business_date, given.run_id, given.version, given.expected, given.actual)
        is not distinct from (found.rule, found.measure, found.key, found.business_date, found.run_id, found.version,
          found.expected::numeric, found.actual::numeric)`;
}

/** Rows of one rule, which are all that are counted if nothing else is said. */
export function findingOf(rule: RuleName, rows: readonly (FoundRow & { readonly count: bigint })[]): Finding {
  const open = rows.filter(({ given_at }) => given_at === null);
  const given = rows.filter(({ given_at }) => given_at !== null);
  return {
    rule,
    violationCount: Number(open[0]?.count ?? 0n),
    violations: open.map(violationOf),
    acknowledgedCount: Number(given[0]?.count ?? 0n),
    acknowledged: given.map(acknowledgedOf),
  };
}

function violationOf(row: FoundRow): Violation {
  return {
    finding: row.finding,
    rule: row.rule,
    key: row.key ?? undefined,
    businessDate: row.business_date === null ? undefined : Temporal.PlainDate.from(row.business_date),
    runId: row.run_id ?? undefined,
    version: row.version ?? undefined,
    measure: row.measure,
    expected: row.expected === null ? undefined : BigInt(row.expected),
    actual: row.actual === null ? undefined : BigInt(row.actual),
  };
}

function acknowledgedOf(row: FoundRow): Acknowledged {
  const { reason_given: reason, given_by: actor, given_at: at } = row;
  invariant(reason !== null && actor !== null && at !== null, `finding ${row.finding}: is acknowledged by nobody`);
  return { ...violationOf(row), reason, actor, acknowledgedAt: at.toTemporalInstant() };
}
