/** What did not apply, and why: insert-only, for whoever asks later. */
import { type Database, sqlFault } from "@nightwriter/database";
import type { Item, ItemOutcome } from "./item.ts";

/** One try at an item that did not end in an entry of its own. */
export interface FailedAttempt {
  readonly item: Item;
  readonly outcome: Exclude<ItemOutcome, { outcome: "applied" }>;
}

interface Origin {
  readonly fencingToken: bigint;
  readonly worker: string;
}

/** Records the attempts. Its commit waits for synchronous replication like any other. Throws SqlFault. */
export async function recordAttempts(
  { db }: Pick<Database, "db">,
  attempts: readonly FailedAttempt[],
  origin: Origin,
): Promise<void> {
  if (attempts.length === 0) return;
  try {
    await db
      .insertInto("nightwriter.attempt")
      .values(
        attempts.map(({ item, outcome }) => ({
          run_id: item.runId,
          business_date: item.businessDate,
          key: item.key,
          outcome: outcome.outcome,
          reason: reasonOf(outcome),
          sqlstate: sqlstateOf(outcome) ?? null,
          fencing_token: origin.fencingToken,
          worker: origin.worker,
        })),
      )
      .execute();
  } catch (error) {
    throw sqlFault(error);
  }
}

function reasonOf(outcome: FailedAttempt["outcome"]): string {
  switch (outcome.outcome) {
    case "duplicate":
      return "it has its entry already";
    case "fenced":
      return `token ${outcome.storedToken} stands in the way`;
    case "conflict":
      return "the key's version moved at each try";
    case "withdrawn":
      return outcome.reason;
    case "parked":
    case "failing":
      return outcome.reason;
    case "unknown":
      return outcome.fault.message;
  }
}

function sqlstateOf(outcome: FailedAttempt["outcome"]): string | undefined {
  if (outcome.outcome === "parked" || outcome.outcome === "failing") return outcome.sqlstate;
  return outcome.outcome === "unknown" ? outcome.fault.sqlstate : undefined;
}
