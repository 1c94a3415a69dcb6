/** The servers of a test run: what the global setup tells the test files about them, and the proof that they were reached. */

import { invariant } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import { sql } from "kysely";
import { inject } from "vitest";

/** A major version of PostgreSQL that the tests run on: the newest supported one, and the oldest. */
export type PostgresVersion = "15" | "18";

export const TEMPLATE = "nightwriter_template";

/** Every test database's name begins with this, so that a person sees what it is and that it may go. */
export const DATABASE_MARKER = "nwtest_";

export interface PostgresServer {
  /** The superuser's. */
  readonly url: string;
  /** What the server answers when asked who it is. */
  readonly identity: string;
}

export interface RedisServer {
  readonly url: string;
  readonly runId: string;
}

export interface Servers {
  readonly postgres: Readonly<Record<PostgresVersion, PostgresServer>>;
  readonly redis: RedisServer;
}

declare module "vitest" {
  interface ProvidedContext {
    servers: Servers;
  }
}

export function servers(): Servers {
  const provided = inject("servers");
  invariant(provided !== undefined, "servers are started by the global setup: run this file in the project `service`");
  return provided;
}

/** The same server at another database. */
export function urlOf(server: PostgresServer, database: string): string {
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  return url.href;
}

/** Major version and system identifier, which initdb draws anew: no two clusters share it. */
export async function identityOf(database: Database): Promise<string> {
  const { rows } = await sql<{ identity: string }>`
    select format('%s/%s', current_setting('server_version_num')::int / 10000, system_identifier) as identity
    from pg_control_system()`.execute(database.db);
  return rows[0]?.identity ?? "";
}
