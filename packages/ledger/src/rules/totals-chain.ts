import { sql } from "kysely";
import type { ChainCheck } from "./chain-check.ts";

/** Each total is the total before plus the delta. After a gap nobody can say; the gap is told by its own rule. */
export const totalsChain: readonly ChainCheck[] = [
  {
    rule: "totals-chain",
    measure: "total_after",
    // Numeric, since a damaged total may be one that no bigint can be added to.
    broken: sql<boolean>`((previous.key is not null or entry.version_after = 1)
      and entry.total_after <> coalesce(previous.total_after, 0)::numeric + entry.delta_minor)`,
    expected: sql`coalesce(previous.total_after, 0)::numeric + entry.delta_minor`,
    actual: sql`entry.total_after`,
  },
];
