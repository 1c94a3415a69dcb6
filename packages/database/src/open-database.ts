/** A pool of connections and Kysely on top of it: see pool.ts for how a connection is kept and given back. */
import { type Logger, silentLogger } from "@nightwriter/core";
import { type CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { startLockWatch } from "./lock-watch.ts";
import { giveBack, kyselyPool, makePool } from "./pool.ts";
import type { Schema } from "./schema.ts";
import { type Answer, type Session, sessionOf } from "./session.ts";
import { type SessionSettings, sessionSettings } from "./session-settings.ts";
import { sqlFault } from "./sql-fault.ts";
import type { NamedQuery } from "./statement.ts";

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** Shown in pg_stat_activity: what an operator sees of this process. */
  readonly applicationName: string;
  /** Connections at most. Default: 4. */
  readonly max?: number;
  /** Milliseconds the server may work at one statement. Default: 30,000; 0 switches it off (migrations, verify). */
  readonly statementTimeoutMs?: number;
  /** Milliseconds the server may wait for a lock. Default: 5,000. */
  readonly lockTimeoutMs?: number;
  /** Milliseconds the client waits for any answer. Default: statementTimeoutMs + 5,000; 0 when that is 0. */
  readonly queryTimeoutMs?: number;
  /**
   * For a pool whose statements are index lookups whatever is asked: they are planned without a look at their values, once
   * instead of six times, and no table is read whole where an index answers, however small it was when they were planned.
   * Default: false.
   */
  readonly indexLookups?: boolean;
  /** Milliseconds to wait for a connection, its turn at a full pool included. Default: 10,000. */
  readonly connectTimeoutMs?: number;
  readonly logger?: Logger;
}

export interface Database extends AsyncDisposable {
  readonly db: Kysely<Schema>;
  /** What its sessions are set to; whether that holds, `assertServerSupported` asks. */
  readonly settings: SessionSettings;
  /** Runs one compiled statement in autocommit on a connection of its own and hands over its warnings. Throws SqlFault. */
  run<Row>(query: CompiledQuery<Row> | NamedQuery<Row>): Promise<Answer<Row>>;
  /** Lends one connection to `work`: for COPY, advisory locks and transactions written by hand. Throws what `work` throws. */
  session<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** Ends every connection, after the statements under way. */
  close(): Promise<void>;
}

/** Opens a pool. No connection is made until the first statement, so an unreachable server shows there, as a SqlFault. */
export function openDatabase(options: DatabaseOptions): Database {
  const { url, applicationName, statementTimeoutMs = 30_000, lockTimeoutMs = 5_000 } = options;
  const settings = sessionSettings({
    statementTimeoutMs,
    lockTimeoutMs,
    indexLookups: options.indexLookups ?? false,
  });
  const lockWatch = startLockWatch({ url, applicationName, lockTimeoutMs });
  const pool = makePool({
    url,
    applicationName,
    max: options.max ?? 4,
    settings,
    queryTimeoutMs: options.queryTimeoutMs ?? (statementTimeoutMs === 0 ? 0 : statementTimeoutMs + 5_000),
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    lockWatch,
    logger: options.logger ?? silentLogger,
  });
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: kyselyPool(pool) }) });
  const session = async <Result>(work: (session: Session) => Promise<Result>): Promise<Result> => {
    const client = await pool.connect().catch((error: unknown) => Promise.reject(sqlFault(error)));
    let failure: unknown;
    try {
      return await work(sessionOf(client));
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      giveBack(client, failure);
    }
  };
  // Kysely ends the pool only if a query went through it.
  const close = async (): Promise<void> => {
    await db.destroy();
    if (!pool.ending) await pool.end();
    await lockWatch.end();
  };
  return {
    db,
    settings,
    session,
    run: (query) => session((each) => each.run(query)),
    close,
    [Symbol.asyncDispose]: close,
  };
}
