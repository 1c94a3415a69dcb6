/** A session is what this code needs, whatever its URL, its role and its database say; or it is refused. */

import { assertServerSupported, type Database, openDatabase } from "@nightwriter/database";
import { bothPostgres, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { openPooler } from "./pooler.ts";

/** Each with a value that would make something wrong, or slow. */
const spoilt = {
  DateStyle: "German",
  IntervalStyle: "sql_standard",
  standard_conforming_strings: "off",
  search_path: "planted",
  default_transaction_isolation: "serializable",
  default_transaction_read_only: "on",
  statement_timeout: "1",
  lock_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  plan_cache_mode: "force_custom_plan",
  enable_seqscan: "on",
  jit: "on",
};

function open(url: string, options: { statementTimeoutMs?: number } = {}): Database {
  return openDatabase({ url, applicationName: "test of settings", max: 1, indexLookups: true, ...options });
}

async function settingsOf(database: Database): Promise<Record<string, string>> {
  const names = [...Object.keys(spoilt), "application_name", "work_mem"];
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings where name = any(${names}::text[])`.execute(database.db);
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const changed = new URL(url);
  for (const [name, value] of Object.entries(parameters)) changed.searchParams.set(name, value);
  return changed.href;
}

const options = Object.entries(spoilt)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(" ");

describe.each(bothPostgres)("a session on PostgreSQL %s", (server) => {
  test("keeps its settings and takes the URL's others along", async () => {
    await using test = await testDatabase({ server });
    await using plain = open(test.url);
    const url = withParameters(test.url, {
      options: `-c work_mem=7MB ${options}`,
      application_name: "somebody",
      statement_timeout: "0",
      lock_timeout: "1",
      query_timeout: "1",
    });
    await using database = open(url);
    const settings = await settingsOf(database);
    expect(settings).toEqual({ ...(await settingsOf(plain)), work_mem: String(7 * 1024) });
    expect(settings).toMatchObject({ statement_timeout: "30000", lock_timeout: "5000", enable_seqscan: "off" });
    expect(await assertServerSupported(database)).toMatchObject({ inRecovery: false });
  });

  test("keeps them whatever the database or the role is set to, also where there is to be no limit", async () => {
    await using test = await testDatabase({ server });
    for (const [name, value] of Object.entries(spoilt)) {
      await sql`alter database ${sql.id(test.name)} set ${sql.id(name)} = ${sql.lit(value)}`.execute(test.db);
    }
    await using database = open(test.url, { statementTimeoutMs: 0 });
    expect(await settingsOf(database)).toMatchObject({ statement_timeout: "0", DateStyle: "ISO, MDY" });
    expect(await assertServerSupported(database)).toMatchObject({ inRecovery: false });
  });

  test("is refused where it would write past the triggers or not wait for the disk", async () => {
    await using test = await testDatabase({ server });
    const refused = async (setting: string): Promise<unknown> => {
      await using database = open(withParameters(test.url, { options: `-c ${setting}` }));
      return await assertServerSupported(database).catch((error: unknown) => error);
    };
    expect(await refused("session_replication_role=replica")).toMatchObject({
      code: "session_setting_differs",
      message:
        'database: its session has session_replication_role "replica", not "origin"; take it out of DATABASE_URL, and reset it for the role and the database',
    });
    expect(await refused("synchronous_commit=off")).toMatchObject({
      code: "commit_not_durable",
      message: expect.stringContaining("take it out of DATABASE_URL"),
    });
  });

  test("is refused behind a pooler that drops its settings, and told so by one that does not take any", async () => {
    await using test = await testDatabase({ server });
    await using drops = await openPooler(test.url, "drops");
    await using dropped = open(drops.url);
    await expect(assertServerSupported(dropped)).rejects.toMatchObject({
      code: "session_setting_differs",
      message: expect.stringMatching(/^database: its session has .*; a pooler .*; connect to the server itself$/),
    });
    await using refuses = await openPooler(test.url, "refuses");
    await using refused = open(refuses.url);
    await expect(assertServerSupported(refused)).rejects.toMatchObject({
      code: "session_refused",
      message:
        "database: unsupported startup parameter: options; a pooler that takes no settings of a session stands between: connect to the server itself",
    });
  });
});
