import { sql } from "kysely";
import type { ChainCheck } from "./chain-check.ts";

/** A holder whose term had ended has written nothing: tokens never fall along the versions of a key. */
export const tokenOrder: readonly ChainCheck[] = [
  {
    rule: "token-order",
    measure: "fencing_token",
    broken: sql<boolean>`(entry.fencing_token < previous.fencing_token)`,
    expected: sql`previous.fencing_token`,
    actual: sql`entry.fencing_token`,
  },
];
