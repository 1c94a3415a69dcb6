/** Databases of the story's own on somebody's server: made, copied, and dropped, and nothing else there is touched. */
import { randomBytes } from "node:crypto";
import { Fault } from "@nightwriter/core";
import { type Database, openDatabase, SqlFault } from "@nightwriter/database";
import { sql } from "kysely";

/** A person who finds one that was left behind, after SIGKILL, sees what it is and that it may go. */
const MARKER = "nightwriter_story_";

const insufficientPrivilege = "42501";

export interface TemporaryDatabase {
  readonly name: string;
  readonly url: string;
}

export interface TemporaryDatabases extends AsyncDisposable {
  /** An empty one, or a copy of another one that nobody is connected to. */
  create(template?: TemporaryDatabase): Promise<TemporaryDatabase>;
}

/** Opens the server that the URL leads to. Disposal drops every database that was made. Throws SqlFault. */
export function temporaryDatabases(url: string): TemporaryDatabases {
  const admin = openDatabase({ url, applicationName: "nightwriter story", max: 1, statementTimeoutMs: 0 });
  const made: TemporaryDatabase[] = [];
  return {
    async create(template) {
      const name = MARKER + randomBytes(6).toString("hex");
      const source = template === undefined ? sql`` : sql` template ${sql.id(template.name)}`;
      await run(admin, sql`create database ${sql.id(name)}${source}`).catch((error: unknown) => {
        throw error instanceof SqlFault && error.sqlstate === insufficientPrivilege ? notAllowed(error) : error;
      });
      const database = { name, url: urlOf(url, name) };
      made.push(database);
      return database;
    },
    async [Symbol.asyncDispose]() {
      for (const { name } of made) await run(admin, sql`drop database if exists ${sql.id(name)} with (force)`);
      await admin.close();
    },
  };
}

async function run(admin: Database, statement: ReturnType<typeof sql>): Promise<void> {
  await admin.run(statement.compile(admin.db));
}

function notAllowed(cause: SqlFault): Fault {
  return new Fault(
    "database_not_allowed",
    "the story: this role may not create databases; grant it CREATEDB, or unset DATABASE_URL for a PostgreSQL of the story's own",
    { cause },
  );
}

function urlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
