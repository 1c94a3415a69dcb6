export { appliedMigrations } from "./applied-migrations.ts";
export { ensureEpoch } from "./epoch.ts";
export { type MigrateResult, migrateToLatest, migrations, pendingSql } from "./migrate.ts";
export { type Answer, type Database, type DatabaseOptions, openDatabase } from "./open-database.ts";
export type { RunItemStatus, RunKind, Schema } from "./schema.ts";
export { assertSchemaCompatible, compatibleSchema, type SchemaFaultCode, type SchemaRange } from "./schema-version.ts";
export { assertServerSupported, type ServerFacts, type ServerFaultCode, serverFacts } from "./server-requirements.ts";
export type { Session } from "./session.ts";
export { SqlFault, type SqlFaultCode, sqlFault } from "./sql-fault.ts";
