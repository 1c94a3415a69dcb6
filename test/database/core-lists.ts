/** The core's list of migrations as a build before this one has it, or a later one. */
import { coreSchema, type SchemaList } from "@nightwriter/database";

type Migrations = SchemaList["migrations"];

/** For `lists` of migrateToLatest, or as it stands. */
export const coreWith = (more: Migrations): readonly [SchemaList] => [
  { ...coreSchema, migrations: { ...coreSchema.migrations, ...more } },
];

/** Without the named migration and those after it. */
export function coreBefore(name: string): readonly [SchemaList] {
  const migrations = Object.fromEntries(Object.entries(coreSchema.migrations).filter(([each]) => each < name));
  return [{ ...coreSchema, migrations }];
}
