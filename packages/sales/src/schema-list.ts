import type { SchemaList } from "@nightwriter/database";
import * as imports from "../migrations/0001-imports.ts";

/** The migrations of this room, after the core's. Its tables of before stand in the core's list, where they were shipped. */
export const salesSchema: SchemaList = {
  schema: "sales",
  migrations: { "0001-imports": imports },
  grants: {
    "sales.import": { operator: "insert" },
    "sequence sales.import_id_seq": { operator: "usage" },
    "sales.import_need": { operator: "insert" },
    "sales.identity": { operator: "insert" },
    "sales.sale": { operator: "insert (local_time, first_date, first_source, first_line)" },
  },
};
