/** What the ledger writes about, and what it answers. */
import type { SqlFault } from "@nightwriter/database";

/** One (key, business date) of a run. */
export interface Item {
  readonly runId: bigint;
  readonly key: string;
  readonly businessDate: string;
}

/** The item's entry was written by this very call. Amounts in minor units. */
export interface Applied {
  readonly outcome: "applied";
  readonly deltaMinor: bigint;
  /** How many source rows the delta was summed over. */
  readonly sourceCount: bigint;
  readonly totalAfter: bigint;
  readonly versionAfter: bigint;
}

/** Why the item was withdrawn; `closed`: its date is; `unplanned`: this job has no such item in this partition. */
export type WithdrawnReason = "cancelled" | "parked" | "closed" | "paused" | "unplanned";

/** How rows can contradict each other: see damage.ts. */
export type DamageKind = "row behind its ledger" | "row missing" | "token above the counter";

/** Why an item cannot be applied, whoever tries. */
export interface Failure {
  /** Of the server's error; undefined where there was none. */
  readonly sqlstate: string | undefined;
  /** Undefined: its rows are not damaged. */
  readonly damage?: DamageKind;
  readonly reason: string;
}

/**
 * What became of an item. Only `applied` changed anything.
 *
 * - `duplicate`: it has its entry already. `storedToken` as in `fenced`; absent if nothing but the entry stands in the way, or no answer
 *   came, so that the entry may be this call's own.
 * - `fenced`: the term is not the partition's current one, or the key was written under a higher token. `storedToken` is what stands in the way.
 * - `conflict`: the key's version moved while the delta was computed. Try again, with jitter.
 * - `withdrawn`: an operator took it back.
 * - `parked`: its own data cannot be added, or its rows are damaged; it waits for a person now. The others of its batch are not affected.
 * - `failing`: as `parked`, but nobody was parked, since so many others of its run fail for the same reason that the fault is hardly
 *   theirs. It stays due. Try again later, alone.
 * - `unknown`: no answer came, or none that can be trusted. Look again later; it uses up no attempt.
 */
export type ItemOutcome =
  | Applied
  | { readonly outcome: "duplicate"; readonly storedToken?: bigint }
  | { readonly outcome: "fenced"; readonly storedToken: bigint }
  | { readonly outcome: "conflict" }
  | { readonly outcome: "withdrawn"; readonly reason: WithdrawnReason }
  | ({ readonly outcome: "parked" } & Failure)
  | ({ readonly outcome: "failing" } & Failure)
  | { readonly outcome: "unknown"; readonly fault: SqlFault };
