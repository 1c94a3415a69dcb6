/** One guarded write on its way: what it says it has applied, or why it failed. */
import { invariant } from "@nightwriter/core";
import { type NamedQuery, type SqlFault, sqlFault } from "@nightwriter/database";
import type { ApplyContext } from "./apply-context.ts";
import { givenItems } from "./given-items.ts";
import type { WrittenRow } from "./guarded-write.ts";
import type { Applied, Item } from "./item.ts";
import { proveOverNoItems } from "./refusal.ts";
import { inGateOrder } from "./run-gate.ts";
import { statementsOf } from "./statements.ts";

export interface Written {
  /** None if a standby was not waited for: the entries are there, and a failover may forget them. */
  readonly applied: ReadonlyMap<Item, Applied>;
  readonly fault: SqlFault | undefined;
}

/** Sends one statement over the items, of which there may be none. Never throws for what the server or the way to it does. */
export async function sendWrite(context: ApplyContext, items: readonly Item[]): Promise<Written> {
  try {
    const { rows, warnings } = await context.database.run(writeOf(context, items));
    const isReplicated = !warnings.includes("01000");
    return { applied: isReplicated ? appliedOf(items, rows) : new Map(), fault: undefined };
  } catch (error) {
    return { applied: new Map(), fault: sqlFault(error) };
  }
}

/** As {@link proveOverNoItems}, of the guarded write. */
export async function proveWrite(context: ApplyContext): Promise<SqlFault | undefined> {
  return proveOverNoItems(() => context.database.run(writeOf(context, [])));
}

function writeOf({ database, job, term, worker }: ApplyContext, items: readonly Item[]): NamedQuery<WrittenRow> {
  return statementsOf(database, job).write.bind({
    ...givenItems(items),
    runs: inGateOrder(items.map((item) => item.runId)),
    partition: term.partition,
    fencingToken: term.fencingToken,
    nonce: term.nonce,
    worker,
  });
}

function appliedOf(items: readonly Item[], rows: readonly WrittenRow[]): Map<Item, Applied> {
  const byKey = new Map(items.map((item) => [item.key, item]));
  return new Map(
    rows.map((row) => {
      const item = byKey.get(row.key);
      invariant(item !== undefined, `key ${row.key}: was written without being asked for`);
      const applied: Applied = {
        outcome: "applied",
        deltaMinor: row.delta_minor,
        sourceCount: row.source_count,
        totalAfter: row.total_after,
        versionAfter: row.version_after,
      };
      return [item, applied];
    }),
  );
}
