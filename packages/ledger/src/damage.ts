/**
 * Damage: rows that contradict each other, so that no try of an item can ever succeed. It is told and parked at once instead of
 * being tried for ever. Each kind is seen in one snapshot, in which an undamaged database never shows it:
 *
 * - `row behind its ledger`: the ledger has an entry with the version that comes next. Total and entry are written by one
 *   statement, so an older copy of the row was put back, or it was deleted and made anew.
 * - `row missing`: a planned item's key has no row. A plan makes both in one statement.
 * - `token above the counter`: the row was written under a token that the job has not handed out yet. Counter and term are raised by
 *   one statement, before anybody writes under them. Where the counter is below the token of a term it is the counter that is
 *   wrong, and no key is blamed.
 */
import type { ExplanationRow } from "./explain-outcomes.ts";
import type { DamageKind } from "./item.ts";

export interface Damage {
  readonly kind: DamageKind;
  readonly reason: string;
}

/** What is damaged about the key of this item, which is due and has no entry; undefined if nothing is. */
export function damageOf(row: ExplanationRow): Damage | undefined {
  if (row.version === null) {
    return describe("row missing", `key_total has no row of key ${row.key}; put it back from the key's last entry`);
  }
  if (!isCounterBehind(row) && (row.row_token ?? 0n) > row.counter) {
    const fact = `the row of key ${row.key} was written under token ${row.row_token}, the job has handed out ${row.counter}`;
    return describe("token above the counter", `${fact}; put the row back from the key's last entry`);
  }
  if (!row.is_behind) return undefined;
  const fact = `the row of key ${row.key} is at version ${row.version}, its ledger has entry ${row.version + 1n}`;
  return describe("row behind its ledger", `${fact}; put the row back from the key's last entry`);
}

/** Whether the job's own counter is damaged: below the token of one of its terms, which came from it. */
export function isCounterBehind(row: Pick<ExplanationRow, "counter" | "greatest_term">): boolean {
  return row.counter < (row.greatest_term ?? 0n);
}

function describe(kind: DamageKind, facts: string): Damage {
  return { kind, reason: `${kind}: ${facts}` };
}
