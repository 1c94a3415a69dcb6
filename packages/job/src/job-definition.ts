/**
 * What a nightly job is: a list of keys, and a relation of source rows that says what each (key, business date)
 * amounts to. The engine composes these queries into its own statements (plan, guarded write, verify), so they are
 * written once, and the engine knows no restaurant.
 */
import type { Schema } from "@nightwriter/database";
import type { AliasableExpression, QueryCreator } from "kysely";

/** Anything that can stand in a `from` and has the columns `Row`: a query of the builder's, or a parenthesised raw one. */
export type Relation<Row> = AliasableExpression<Row>;

/** A key that the job keeps a total for. Inactive keys are planned only for dates on which they have source rows. */
export interface KeyRow {
  key: string;
  active: boolean;
}

/** One row of a source: it adds `amount_minor` to what its (key, business date) amounts to. */
export interface SourceRow {
  key: string;
  business_date: string;
  amount_minor: bigint;
}

/** A source row that says when it was written: its transaction (`xid8`) and the epoch of the cluster that numbered it. */
export interface StampedSourceRow extends SourceRow {
  xid: string;
  epoch: number;
}

/**
 * - `stamped`: rows are only ever added, and each carries the transaction that added it. Plans find exactly what was
 *   touched since the last plan, and verify can compute every delta again.
 * - `lookback`: rows may change in place or say nothing of when they were written. Plans compare the last `days`
 *   business dates again; verify says of the rule about snapshots that it is not applicable.
 */
export type Source =
  | { readonly kind: "stamped"; rows(db: QueryCreator<Schema>): Relation<StampedSourceRow> }
  | { readonly kind: "lookback"; readonly days: number; rows(db: QueryCreator<Schema>): Relation<SourceRow> };

/** A nightly job, as code defines it; `registerJob` makes the row that stands for it. */
export interface JobDefinition {
  /** Lower-case letters, digits and hyphens, at most 63: it names the row, the queues and the metrics. */
  readonly name: string;
  /** When the night of the business date before should run: a hint only, in `timeZone`. Five fields. */
  readonly cron: string;
  /** An IANA time zone: where the cron is read, and where a business date ends for the job as a whole. */
  readonly timeZone: string;
  /** Raise it with every change to what `source` sums. */
  readonly queryVersion: number;
  /** For a job that is registered for the first time: 1 to 1024. Afterwards the stored count holds. */
  readonly partitionCount: number;
  keys(db: QueryCreator<Schema>): Relation<KeyRow>;
  readonly source: Source;
}
