/** What a PostgreSQL server must be before anybody writes money into it. */
import { Fault } from "@nightwriter/core";
import { sql } from "kysely";
import type { Database } from "./open-database.ts";
import { assertSessionSettings } from "./session-settings.ts";
import { sqlFault } from "./sql-fault.ts";

export type ServerFaultCode = "server_too_old" | "server_read_only" | "commit_not_durable" | "data_not_durable";

/** What the server says of itself, as far as it decides whether it can be trusted. */
export interface ServerFacts {
  /** As server_version_num: 150004 is 15.4. */
  readonly versionNumber: number;
  readonly version: string;
  readonly inRecovery: boolean;
  /** For the role and database that the connection uses. */
  readonly synchronousCommit: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  /** The server says of itself that its data may be lost: those of demos and tests start with `-c nightwriter.disposable=on`. */
  readonly disposable: boolean;
  readonly role: string;
}

/** Reads the facts. Throws SqlFault. */
async function serverFacts({ db }: Database): Promise<ServerFacts> {
  try {
    const { rows } = await sql<ServerFacts>`
      select current_setting('server_version_num')::int as "versionNumber",
        current_setting('server_version') as "version",
        pg_is_in_recovery() as "inRecovery",
        current_setting('synchronous_commit') as "synchronousCommit",
        current_setting('fsync') as "fsync",
        current_setting('full_page_writes') as "fullPageWrites",
        coalesce(current_setting('nightwriter.disposable', true), '') = 'on' as "disposable",
        current_user as "role"`.execute(db);
    const [facts] = rows;
    if (facts === undefined) throw new Error("no row");
    return facts;
  } catch (error) {
    throw sqlFault(error);
  }
}

/**
 * Returns if the server is a writable PostgreSQL of at least 15 whose commits are durable, and a session on it is set as this
 * code needs it. Throws a Fault with the remedy. `warn` gets what is safe on some machines only.
 */
export async function assertServerSupported(
  database: Database,
  warn: (text: string) => void = () => {},
): Promise<ServerFacts> {
  await assertSessionSettings(database);
  const facts = await serverFacts(database);
  const details = { version: facts.version, role: facts.role, synchronousCommit: facts.synchronousCommit };
  const fault = (code: ServerFaultCode, message: string): Fault<ServerFaultCode> =>
    new Fault(code, message, { details });
  if (facts.versionNumber < 150_000) {
    throw fault("server_too_old", `database: PostgreSQL ${facts.version} is not supported; use 15 or newer`);
  }
  if (facts.inRecovery) {
    throw fault(
      "server_read_only",
      "database: is a standby and cannot be written to; point DATABASE_URL at the primary",
    );
  }
  if (facts.synchronousCommit === "off") {
    throw fault(
      "commit_not_durable",
      `database: synchronous_commit is off for role ${facts.role}, acknowledged work would be gone after a crash; run: alter role "${facts.role}" set synchronous_commit = on, or take it out of DATABASE_URL`,
    );
  }
  if (facts.disposable) return facts;
  const remedy = (setting: string): string => `run: alter system set ${setting} = on, then: select pg_reload_conf()`;
  if (facts.fsync === "off") {
    throw fault(
      "data_not_durable",
      `database: fsync is off, a crash of its machine can lose or spoil what was acknowledged; ${remedy("fsync")}`,
    );
  }
  if (facts.fullPageWrites === "off") {
    warn(
      "database: full_page_writes is off, which is safe only where the file system never tears a page (ZFS); " +
        `anywhere else ${remedy("full_page_writes")}`,
    );
  }
  return facts;
}
