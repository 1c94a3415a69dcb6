import type { Term } from "@nightwriter/partition";
import { damageOf } from "./damage.ts";
import type { ExplanationRow } from "./explain-outcomes.ts";
import type { ItemOutcome } from "./item.ts";

/** What the row says stands in the way of a write under `term`; undefined if nothing does. */
export function obstacle(row: ExplanationRow, term: Term): ItemOutcome | undefined {
  const isOver = row.term_token !== term.fencingToken || row.nonce !== term.nonce;
  const storedToken = row.term_token ?? 0n;
  // Whoever wakes from a long sleep finds that others have done its work: it must hear of its term all the same.
  if (row.entry_version !== null) return { outcome: "duplicate", ...(isOver && { storedToken }) };
  if (row.status === null || row.revision === null || row.partition !== term.partition) {
    return { outcome: "withdrawn", reason: "unplanned" };
  }
  if (row.cancelled_at !== null || row.status === "cancelled") return { outcome: "withdrawn", reason: "cancelled" };
  if (row.status === "parked") return { outcome: "withdrawn", reason: "parked" };
  if (row.is_closed) return { outcome: "withdrawn", reason: "closed" };
  if (row.paused_at !== null) return { outcome: "withdrawn", reason: "paused" };
  if (isOver) return { outcome: "fenced", storedToken };
  const damage = damageOf(row);
  if (damage !== undefined) {
    return { outcome: "parked", sqlstate: undefined, damage: damage.kind, reason: damage.reason };
  }
  const rowToken = row.row_token ?? 0n;
  return rowToken > term.fencingToken ? { outcome: "fenced", storedToken: rowToken } : undefined;
}
