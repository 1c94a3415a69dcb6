/**
 * SQL errors, sorted once and here: by SQLSTATE and constraint, never by message text.
 *
 * - `weather`: the server or the way to it (08 connection, 40 rollback, 53 resources, 55 object state, 57 operator,
 *   58 system, 25006 a server that is read-only while it fails over). Waiting helps.
 * - `lost`: the connection ended or the answer did not come in time: whether the statement took effect is not known.
 * - `data`: what the statement was given (22 data, P0001 raised by a trigger or function, 23514 a check of the source's own).
 * - `duplicate`: a unique constraint, named in `details.constraint`.
 * - `bug`: everything else (42 syntax and access, 23 other integrity…).
 */
import { Fault, InvariantError } from "@nightwriter/core";
import pg from "pg";

export type SqlFaultCode = "weather" | "lost" | "data" | "duplicate" | "bug";

/**
 * A failed statement. `details` has `sqlstate` and `constraint` as far as the server said, and after a lock timeout the pids of the sessions
 * that were in the way as `blockedBy`. `cause` is the driver's error.
 */
export class SqlFault extends Fault<SqlFaultCode> {
  override readonly name = "SqlFault";
  /** The five characters of the SQLSTATE; undefined when no answer came. */
  readonly sqlstate: string | undefined;

  constructor(code: SqlFaultCode, cause: Error & { code?: unknown; constraint?: unknown; blockedBy?: unknown }) {
    const sqlstate = cause instanceof pg.DatabaseError ? cause.code : undefined;
    const constraint = cause instanceof pg.DatabaseError ? cause.constraint : undefined;
    super(code, `database: ${cause.message}`, {
      details: {
        sqlstate: sqlstate ?? null,
        constraint: constraint ?? null,
        ...(typeof cause.blockedBy === "string" && { blockedBy: cause.blockedBy }),
      },
      retryable: code === "weather" || code === "lost",
      cause,
    });
    this.sqlstate = sqlstate;
  }
}

const weather = new Set(["08", "40", "53", "55", "57", "58"]);
const readOnly = "25006";

/**
 * What kind of failure a driver's error is. An error that neither the server nor our own code made means that the answer is lost; so
 * does a FATAL one, since a session can be ended between its commit and its answer.
 */
export function sqlFault(error: unknown): SqlFault {
  if (error instanceof SqlFault) return error;
  if (!(error instanceof Error)) return new SqlFault("bug", new Error(String(error)));
  if (!(error instanceof pg.DatabaseError)) return new SqlFault(isOurs(error) ? "bug" : "lost", error);
  return new SqlFault(sort(error), error);
}

/** Thrown by code on this side, while it made a statement or read an answer: no connection was lost. */
function isOurs(error: Error): boolean {
  return [InvariantError, TypeError, RangeError, SyntaxError].some((kind) => error instanceof kind);
}

function sort(error: pg.DatabaseError): SqlFaultCode {
  const sqlstate = error.code ?? "";
  if (error.severity === "FATAL" || error.severity === "PANIC") return "lost";
  if (weather.has(sqlstate.slice(0, 2)) || sqlstate === readOnly) return "weather";
  if (sqlstate.startsWith("22") || sqlstate === "P0001" || sqlstate === "23514") return "data";
  if (sqlstate === "23505") return "duplicate";
  return "bug";
}
