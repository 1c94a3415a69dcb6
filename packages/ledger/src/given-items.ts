/** Items as parameters: parallel arrays, and the relation they become. */
import { parameter } from "@nightwriter/database";
import { type AliasedRawBuilder, sql } from "kysely";
import type { Item } from "./item.ts";

/** The n-th of each array belongs to the n-th item. */
export interface GivenItems {
  readonly runIds: readonly bigint[];
  readonly keys: readonly string[];
  readonly businessDates: readonly string[];
}

/** `from` this: run_id, key and business_date of each item, in a statement whose values are {@link GivenItems}. */
export const given: AliasedRawBuilder<{ run_id: bigint; key: string; business_date: string }, "given"> = sql<{
  run_id: bigint;
  key: string;
  business_date: string;
}>`unnest(${parameter("runIds", "bigint[]")}, ${parameter("keys", "text[]")}, ${parameter("businessDates", "date[]")})`.as(
  sql`given(run_id, key, business_date)`,
);

/** The arrays of some items. */
export function givenItems(items: readonly Item[]): GivenItems {
  return {
    runIds: items.map((item) => item.runId),
    keys: items.map((item) => item.key),
    businessDates: items.map((item) => item.businessDate),
  };
}
