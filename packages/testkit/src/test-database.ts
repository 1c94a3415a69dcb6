/** A database of a test's own: cloned from the migrated template, dropped after it. */

import { randomBytes } from "node:crypto";
import { type Database, openDatabase } from "@nightwriter/database";
import { sql } from "kysely";
import { registerResource } from "./resources.ts";
import { DATABASE_MARKER, identityOf, type PostgresVersion, servers, TEMPLATE, urlOf } from "./servers.ts";

/** On which server, from which template, with how many connections. */
export interface TestDatabaseOptions {
  /** Default: "18". */
  readonly server?: PostgresVersion;
  /** Connections of `database` at most. Default: 4. */
  readonly max?: number;
  /** The name of another test database of the server, which nobody is connected to. Default: the migrated template. */
  readonly template?: string;
}

/** A database that nobody else knows, opened. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  readonly server: PostgresVersion;
  readonly database: Database;
  readonly db: Database["db"];
}

/**
 * Clones the migrated template on the server, after it has proved that this is the server that the run started, and opens
 * it. Disposal closes `database` and drops what was cloned; it throws if anybody is still connected: a leaked pool, or a
 * process that lives on. A database that is not disposed of fails its file.
 *
 * @example
 * await using test = await testDatabase({ server: "15" });
 */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { server = "18", max = 4, template = TEMPLATE } = options;
  const there = servers().postgres[server];
  const name = DATABASE_MARKER + randomBytes(6).toString("hex");
  await withAdmin(server, async (admin) => {
    await sql`create database ${sql.id(name)} template ${sql.id(template)}`.execute(admin.db);
  });
  const url = urlOf(there, name);
  // Who waits for a lock on purpose is let go by the test, however slow the machine; the default of 5 s is the product's.
  const database = openDatabase({ url, applicationName: `test of ${name}`, max, lockTimeoutMs: 20_000 });
  const drop = async (): Promise<void> => {
    await database.close();
    await withAdmin(server, (admin) => dropDatabase(admin, name));
  };
  const dispose = registerResource(`database ${name}`, drop);
  return { url, name, server, database, db: database.db, [Symbol.asyncDispose]: dispose };
}

/** Lends a superuser's connection to the test server, proved to be that. */
async function withAdmin(server: PostgresVersion, work: (admin: Database) => Promise<void>): Promise<void> {
  const { url, identity } = servers().postgres[server];
  await using admin = openDatabase({ url, applicationName: "nightwriter-testkit", max: 1 });
  const reached = await identityOf(admin);
  if (reached !== identity) throw new Error(`PostgreSQL ${server}: reached ${reached} instead of ${identity}`);
  await work(admin);
}

/** `drop database` itself waits 5 s for connections that are on their way out; who is there after that has leaked. */
async function dropDatabase({ db }: Database, name: string): Promise<void> {
  try {
    await sql`drop database ${sql.id(name)}`.execute(db);
  } catch (error) {
    const { rows } = await sql<{ who: string }>`
      select format('%s (%s: %s)', application_name, state, left(query, 80)) as who
      from pg_stat_activity where datname = ${name}`.execute(db);
    await sql`drop database if exists ${sql.id(name)} with (force)`.execute(db);
    const connected = rows.map(({ who }) => who).join(", ");
    throw new Error(`database ${name}: still in use at the end of its test by ${connected}`, { cause: error });
  }
}
