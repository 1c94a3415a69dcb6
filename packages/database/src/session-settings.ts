/**
 * What a session must be for this code to be right, whatever the URL, the role or the database is set to.
 *
 * In another style dates would arrive as other texts, and instants, which the driver parses, as nulls; the guarded write and
 * whoever waits for it are made for READ COMMITTED; a literal is quoted as the standard has it. These go along as the last of the
 * session's `options`, so that they win over what a URL, a role or a database says. What is on the way may still drop them, as
 * some poolers do, so they are read back at start.
 */
import { Fault } from "@nightwriter/core";
import { sql } from "kysely";
import type { Database } from "./open-database.ts";
import { sqlFault } from "./sql-fault.ts";

export type SessionSettings = Readonly<Record<string, string>>;

export interface SessionOptions {
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly indexLookups: boolean;
}

const needed: SessionSettings = {
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  standard_conforming_strings: "on",
  search_path: "public",
  default_transaction_isolation: "read committed",
  default_transaction_read_only: "off",
  idle_in_transaction_session_timeout: "60000",
};

/**
 * A table that has no index for what is asked is read whole all the same, at a cost that is made up: before PostgreSQL 18 it would
 * be taken for a reason to compile the statement.
 */
const lookups: SessionSettings = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off", jit: "off" };

/** What every session of a pool is set to, by the names that the server has for it; times in milliseconds. */
export function sessionSettings({ statementTimeoutMs, lockTimeoutMs, indexLookups }: SessionOptions): SessionSettings {
  return {
    ...needed,
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(lockTimeoutMs),
    ...(indexLookups && lookups),
  };
}

/** Parameters of a URL that the driver would take instead of what it was told. */
const ours = [
  "options",
  "application_name",
  "statement_timeout",
  "lock_timeout",
  "idle_in_transaction_session_timeout",
  "query_timeout",
  "client_encoding",
  "replication",
];

/** The URL without what is decided here, and the `options` of a session: the URL's own first, so that these have the last word. */
export function withSettings(
  url: string,
  settings: SessionSettings,
): { readonly url: string; readonly options: string } {
  const at = url.indexOf("?");
  const parameters = new URLSearchParams(at < 0 ? "" : url.slice(at + 1));
  const given = parameters.getAll("options");
  for (const name of ours) parameters.delete(name);
  const rest = parameters.size === 0 ? "" : `?${parameters.toString()}`;
  const set = Object.entries(settings).map(([name, value]) => `-c ${name}=${value.replaceAll(" ", String.raw`\ `)}`);
  return { url: (at < 0 ? url : url.slice(0, at)) + rest, options: [...given, ...set].join(" ") };
}

const protocolViolation = "08P01";

/**
 * Returns if a session of the database is set as it must be. Throws a Fault that names the setting, its value and what mends
 * it: `session_refused` by whoever does not take settings at all, `session_setting_differs`.
 */
export async function assertSessionSettings(database: Pick<Database, "db" | "settings">): Promise<void> {
  // Rows are added past the triggers that guard them, and nobody may switch that on for himself but a superuser.
  const wanted: SessionSettings = { ...database.settings, session_replication_role: "origin" };
  for (const [name, value] of await readBack(database, Object.keys(wanted))) {
    const expected = wanted[name] ?? "";
    if (value === expected) continue;
    throw new Fault(
      "session_setting_differs",
      `database: its session has ${name} ${JSON.stringify(value)}, not ${JSON.stringify(expected)}; ${remedyFor(name)}`,
      { details: { setting: name, value, expected } },
    );
  }
}

function remedyFor(name: string): string {
  if (name === "session_replication_role")
    return "take it out of DATABASE_URL, and reset it for the role and the database";
  return "a pooler that drops what a session starts with stands between; connect to the server itself";
}

async function readBack({ db }: Pick<Database, "db">, names: readonly string[]): Promise<Map<string, string>> {
  try {
    const { rows } = await sql<{ name: string; setting: string }>`
      select name, setting from pg_catalog.pg_settings where name = any(${names}::text[])`.execute(db);
    return new Map(rows.map(({ name, setting }) => [name, setting]));
  } catch (error) {
    const fault = sqlFault(error);
    if (fault.sqlstate !== protocolViolation) throw fault;
    throw new Fault(
      "session_refused",
      `${fault.message}; a pooler that takes no settings of a session stands between: connect to the server itself`,
      { cause: error },
    );
  }
}
