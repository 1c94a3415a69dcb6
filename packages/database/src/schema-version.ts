/**
 * Which schema a build can work on.
 *
 * A build for schema N also works on N + 1: a migration only ever adds what the build before it can ignore, and what it
 * takes away went out of use one version earlier. So N and N + 1 run side by side during a rolling deploy.
 */
import { Fault } from "@nightwriter/core";
import { appliedMigrations } from "./applied-migrations.ts";
import { type Migrations, migrations } from "./migrations.ts";
import type { Database } from "./open-database.ts";

export type SchemaFaultCode = "schema_missing" | "schema_behind" | "schema_ahead";

/** Numbers of migrations, both ends included. */
export interface SchemaRange {
  readonly from: number;
  readonly to: number;
}

/** The schema versions that a build with these migrations works on: its own and the next. */
export function rangeOf(known: Migrations): SchemaRange {
  const { length } = Object.keys(known);
  return { from: length, to: length + 1 };
}

/** The schema versions (numbers of migrations) that this build declares itself compatible with. */
const compatibleSchema: SchemaRange = rangeOf(migrations);

/** Returns if this build can work on the database's schema. Throws a Fault that says which command mends it. */
export async function assertSchemaCompatible(database: Database, range: SchemaRange = compatibleSchema): Promise<void> {
  const version = (await appliedMigrations(database)).length;
  const details = { version, from: range.from, to: range.to };
  const fault = (code: SchemaFaultCode, message: string): Fault<SchemaFaultCode> =>
    new Fault(code, message, { details });
  if (version === 0) throw fault("schema_missing", "database: has no Nightwriter schema; run: nightwriter migrate");
  if (version < range.from) {
    throw fault(
      "schema_behind",
      `database: schema ${version} is behind this build's ${range.from}; run: nightwriter migrate`,
    );
  }
  if (version > range.to) {
    throw fault(
      "schema_ahead",
      `database: schema ${version} is ahead of what this build knows (${range.from} to ${range.to}); deploy a newer build`,
    );
  }
}
