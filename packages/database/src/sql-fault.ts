/**
 * SQL errors, sorted once and here: by SQLSTATE and constraint, never by message text.
 *
 * - `weather`: the server or the way to it (08 connection, 40 rollback, 53 resources, 55 object state, 57 operator). Waiting helps.
 * - `lost`: the connection ended or the answer did not come in time: whether the statement took effect is not known.
 * - `data`: what the statement was given (22 data, P0001 raised by a trigger or function, 23514 a check of the source's own).
 * - `duplicate`: a unique constraint, named in `details.constraint`.
 * - `bug`: everything else (42 syntax and access, 23 other integrity…).
 */
import { Fault } from "@nightwriter/core";
import pg from "pg";

export type SqlFaultCode = "weather" | "lost" | "data" | "duplicate" | "bug";

/** A failed statement. `details` has `sqlstate` and `constraint` as far as the server said. `cause` is the driver's error. */
export class SqlFault extends Fault<SqlFaultCode> {
  override readonly name = "SqlFault";
  /** The five characters of the SQLSTATE; undefined when no answer came. */
  readonly sqlstate: string | undefined;

  constructor(code: SqlFaultCode, cause: Error & { code?: unknown; constraint?: unknown }) {
    const sqlstate = cause instanceof pg.DatabaseError ? cause.code : undefined;
    const constraint = cause instanceof pg.DatabaseError ? cause.constraint : undefined;
    super(code, `database: ${cause.message}`, {
      details: { sqlstate: sqlstate ?? null, constraint: constraint ?? null },
      retryable: code === "weather" || code === "lost",
      cause,
    });
    this.sqlstate = sqlstate;
  }
}

const weather = new Set(["08", "40", "53", "55", "57"]);

/**
 * What kind of failure a driver's error is. An error that the server did not send means that its answer is lost; so
 * does a FATAL one, since a session can be ended between its commit and its answer.
 */
export function sqlFault(error: unknown): SqlFault {
  if (error instanceof SqlFault) return error;
  if (!(error instanceof Error)) return new SqlFault("bug", new Error(String(error)));
  if (!(error instanceof pg.DatabaseError)) return new SqlFault("lost", error);
  return new SqlFault(sort(error), error);
}

function sort(error: pg.DatabaseError): SqlFaultCode {
  const sqlstate = error.code ?? "";
  if (error.severity === "FATAL" || error.severity === "PANIC") return "lost";
  if (weather.has(sqlstate.slice(0, 2))) return "weather";
  if (sqlstate.startsWith("22") || sqlstate === "P0001" || sqlstate === "23514") return "data";
  if (sqlstate === "23505") return "duplicate";
  return "bug";
}
