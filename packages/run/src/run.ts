/** A run as the rest of the house sees it. */
import type { RunKind, Schema } from "@nightwriter/database";
import type { Selectable } from "kysely";

/** One execution of a job for a business date. */
export interface Run {
  readonly id: bigint;
  readonly kind: RunKind;
  readonly businessDate: Temporal.PlainDate;
  /** What made it, for every kind but nightly: the same id, the same run. */
  readonly requestId: string | undefined;
  readonly createdAt: Temporal.Instant;
  /** When its items were planned for the first time. Undefined: not yet. */
  readonly plannedAt: Temporal.Instant | undefined;
  /** When nothing of it was due any more. Planning more items takes it back. */
  readonly finishedAt: Temporal.Instant | undefined;
  readonly cancelledAt: Temporal.Instant | undefined;
}

export type RunRow = Pick<
  Selectable<Schema["nightwriter.run"]>,
  "id" | "kind" | "business_date" | "request_id" | "created_at" | "planned_at" | "finished_at" | "cancelled_at"
>;

/** What {@link runOf} needs of a row. */
export const runColumns: readonly (keyof RunRow)[] = [
  "id",
  "kind",
  "business_date",
  "request_id",
  "created_at",
  "planned_at",
  "finished_at",
  "cancelled_at",
];

export function runOf(row: RunRow): Run {
  return {
    id: row.id,
    kind: row.kind,
    businessDate: Temporal.PlainDate.from(row.business_date),
    requestId: row.request_id ?? undefined,
    createdAt: row.created_at.toTemporalInstant(),
    plannedAt: row.planned_at?.toTemporalInstant(),
    finishedAt: row.finished_at?.toTemporalInstant(),
    cancelledAt: row.cancelled_at?.toTemporalInstant(),
  };
}
