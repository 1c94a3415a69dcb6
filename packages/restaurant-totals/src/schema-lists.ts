import { coreSchema, type SchemaList } from "@nightwriter/database";
import { salesSchema } from "@nightwriter/sales";

/** All that `migrate` brings up to date: the core's tables, then those of the shipped job's rooms. */
export const schemaLists: readonly SchemaList[] = [coreSchema, salesSchema];
