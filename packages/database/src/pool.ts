/**
 * The pool, and on which terms its connections are given back.
 *
 * Every connection has an error listener from its birth: the pool's own covers idle clients only, and a backend that is
 * terminated while its client is lent out would otherwise end the process. Every statement has three limits: the server's
 * statement and lock timeouts, and the client's own for a server that no longer answers.
 *
 * A connection is lent again only if the next statement on it will be a new one. While the answer to an earlier statement
 * is missing, the driver makes whoever comes next wait for it; in a transaction that was left open, his work would be lost
 * with it although it was acknowledged. Such a connection is ended instead.
 */
import { invariant, type Logger, throttled } from "@nightwriter/core";
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import pg from "pg";
import { driverTypes } from "./driver-types.ts";
import type { LockWatch } from "./lock-watch.ts";
import { type SessionSettings, withSettings } from "./session-settings.ts";
import { type SqlFault, sqlFault } from "./sql-fault.ts";

export interface PoolOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly max: number;
  readonly settings: SessionSettings;
  /** 0 switches it off. */
  readonly queryTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Watches every connection of the pool. */
  readonly lockWatch: LockWatch;
  readonly logger: Logger;
}

/** A server that goes away ends all connections of a process at once, whatever pools they are in. */
const losses = new WeakMap<Logger, (error: Error) => void>();

function lossesTo(logger: Logger): (error: Error) => void {
  const known = losses.get(logger);
  if (known !== undefined) return known;
  const say = throttled<{ err: Error }>((fields) => logger.warn(fields, "database connection lost"));
  const report = (err: Error): void => say({ err });
  losses.set(logger, report);
  return report;
}

export function makePool({ queryTimeoutMs, lockWatch, logger, ...options }: PoolOptions): pg.Pool {
  const { url, options: startOptions } = withSettings(options.url, options.settings);
  const pool = new pg.Pool({
    connectionString: url,
    application_name: options.applicationName,
    max: options.max,
    connectionTimeoutMillis: options.connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    options: startOptions,
    ...(queryTimeoutMs > 0 && { query_timeout: queryTimeoutMs }),
    types: driverTypes,
  });
  const report = lossesTo(logger);
  pool.on("error", report);
  pool.on("connect", (client) => {
    client.on("error", report);
    lockWatch.over(client);
  });
  return pool;
}

/**
 * Gives a connection back, or ends it. `failure` is what went wrong while it was lent, undefined if nothing did: only what the
 * server itself refused has surely been answered.
 */
export function giveBack(client: pg.PoolClient, failure: unknown): void {
  const answered = failure === undefined || isRefusal(sqlFault(failure));
  client.release(!answered || client.getTransactionStatus() !== "I");
}

function isRefusal({ code, sqlstate }: SqlFault): boolean {
  return sqlstate !== undefined && code !== "lost";
}

/** The pool as Kysely takes it. Kysely itself would lend a connection again whatever had happened on it. */
export function kyselyPool(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    connect: async () => new Loan(await pool.connect()),
    end: async () => pool.end(),
  };
}

class Loan implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  #failure: unknown;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(
    text: string | PostgresCursor<Row>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    invariant(typeof text === "string", "no cursor is configured, so none is asked for");
    return this.#run(text, parameters);
  }

  async #run<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    try {
      const { command, rowCount, rows } = await this.#client.query(text, [...parameters]);
      return { command: command as PostgresQueryResult<Row>["command"], rowCount: rowCount ?? 0, rows };
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  release(destroy = false): void {
    if (destroy) this.#client.release(true);
    else giveBack(this.#client, this.#failure);
  }
}
