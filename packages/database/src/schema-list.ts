/** A list of migrations with a table of applied ones of its own: the core's, and one for each room of a job that has tables. */
import { type Migrations, migrations } from "./migrations.ts";
import { type RoleGrants, tableGrants } from "./role-grants.ts";

export interface SchemaList {
  /** The schema that holds the list's table of applied migrations, `migration`. One list each. */
  readonly schema: string;
  /** Oldest first. Names are never changed and never removed; a migration's number is its place. */
  readonly migrations: Migrations;
  /** What the roles may write of the list's tables, by `schema.table`. Every role may read everything. */
  readonly grants: Readonly<Record<string, RoleGrants>>;
}

/** What every process works on. Lists of jobs come after it, and may refer to its tables. */
export const coreSchema: SchemaList = { schema: "nightwriter", migrations, grants: tableGrants };

/** A migration as people read it: the core's by its name alone. */
export function labelOf({ schema }: SchemaList, name: string): string {
  return schema === coreSchema.schema ? name : `${schema}/${name}`;
}
