import { sql } from "kysely";
import type { ChainCheck } from "./chain-check.ts";

/**
 * A build whose source query had been replaced has written nothing: query versions never fall along the versions of a key. The
 * write looks at the job's version in the snapshot that it sums in, and each snapshot of a chain saw the entry before.
 */
export const queryOrder: readonly ChainCheck[] = [
  {
    rule: "query-order",
    measure: "query_version",
    broken: sql<boolean>`(entry.query_version < previous.query_version)`,
    expected: sql`previous.query_version`,
    actual: sql`entry.query_version`,
  },
];
