import type { SchemaList } from "@nightwriter/database";
import * as imports from "../migrations/0001-imports.ts";
import * as restaurants from "../migrations/0002-restaurants.ts";

/** The migrations of this room, after the core's. Its tables of before stand in the core's list, where they were shipped. */
export const salesSchema: SchemaList = {
  schema: "sales",
  migrations: { "0001-imports": imports, "0002-restaurants": restaurants },
  grants: {
    "sales.import": { operator: "insert" },
    "sequence sales.import_id_seq": { operator: "usage" },
    "sales.import_need": { operator: "insert" },
    "sales.identity": { operator: "insert" },
    "sales.restaurant": { operator: "update (name, time_zone, cutoff, currency, active, closed_since)" },
    "sales.restaurant_clock": { operator: "insert, update (time_zone, cutoff)" },
    "sales.sale": { operator: "insert (local_time, first_date, first_source, first_line)" },
  },
};
