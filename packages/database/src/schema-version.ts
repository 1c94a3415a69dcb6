/**
 * Which schema a build can work on.
 *
 * A build for schema N also works on N + 1: a migration only ever adds what the build before it can ignore, and what it
 * takes away went out of use one version earlier. So N and N + 1 run side by side during a rolling deploy.
 */
import { Fault } from "@nightwriter/core";
import { appliedMigrations } from "./applied-migrations.ts";
import type { Database } from "./open-database.ts";
import { coreSchema, type SchemaList } from "./schema-list.ts";

export type SchemaFaultCode = "schema_missing" | "schema_behind" | "schema_ahead";

/**
 * Returns if this build can work on the database's schema: on its own and on the next. Throws a Fault that says which command
 * mends it.
 */
export async function assertSchemaCompatible(database: Database, list: SchemaList = coreSchema): Promise<void> {
  const version = (await appliedMigrations(database, list)).length;
  const from = Object.keys(list.migrations).length;
  const to = from + 1;
  const fault = (code: SchemaFaultCode, message: string): Fault<SchemaFaultCode> =>
    new Fault(code, message, { details: { schema: list.schema, version, from, to } });
  const name = list.schema === coreSchema.schema ? "schema" : `schema of ${list.schema}`;
  if (version === 0) throw fault("schema_missing", `database: has no ${nameOfMissing(list)}; run: nightwriter migrate`);
  if (version < from) {
    throw fault(
      "schema_behind",
      `database: ${name} ${version} is behind this build's ${from}; run: nightwriter migrate`,
    );
  }
  if (version > to) {
    throw fault(
      "schema_ahead",
      `database: ${name} ${version} is ahead of what this build knows (${from} to ${to}); deploy a newer build`,
    );
  }
}

function nameOfMissing({ schema }: SchemaList): string {
  return schema === coreSchema.schema ? "Nightwriter schema" : `schema of ${schema} yet`;
}
