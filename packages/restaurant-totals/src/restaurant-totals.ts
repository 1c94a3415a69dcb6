/** The shipped job: a restaurant's total is its opening total and the sum of its sales. */
import type { JobDefinition } from "@nightwriter/job";

/** Nightly at 03:30 UTC, for the business date that ended; keys are restaurants, amounts are in their currency's minor units. */
export const restaurantTotals: JobDefinition = {
  name: "restaurant-totals",
  cron: "30 3 * * *",
  timeZone: "UTC",
  queryVersion: 1,
  partitionCount: 16,
  keys: (db) => db.selectFrom("sales.restaurant").select(["id as key", "active"]),
  source: {
    kind: "stamped",
    rows: (db) =>
      db
        .selectFrom("sales.sale")
        .select(["restaurant_id as key", "business_date", "amount_minor", "xid", "epoch"])
        .unionAll(
          db
            .selectFrom("sales.opening_total")
            .select(["restaurant_id as key", "business_date", "amount_minor", "xid", "epoch"]),
        ),
  },
};
