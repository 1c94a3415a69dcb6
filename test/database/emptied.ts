/** A database without a schema of ours. */

import { type PostgresVersion, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";

/** A clone of the migrated template, emptied again; throws if anything of the template is left in it. */
export async function emptiedDatabase(server: PostgresVersion): Promise<TestDatabase> {
  const test = await testDatabase({ server });
  await sql`drop schema nightwriter, sales cascade`.execute(test.db);
  const { rows } = await sql`
    select relname as name from pg_class where oid >= 16384
    union all select proname from pg_proc where oid >= 16384
    union all select nspname from pg_namespace where oid >= 16384`.execute(test.db);
  if (rows.length > 0) throw new Error(`left after both schemas were dropped: ${JSON.stringify(rows)}`);
  return test;
}
