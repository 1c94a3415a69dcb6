/**
 * Imports take turns: one transaction-level advisory lock for whatever records sales from files.
 *
 * What a file adds depends on what was imported before it, and two versions of a growing file have no key in common on
 * which they could meet. So they queue here. That costs nothing where it matters: one import keeps a core of the
 * database busy. A holder that dies or is stopped is ended by the server's limits of time, and its transaction is gone.
 */
import { Fault } from "@nightwriter/core";
import { type Database, type Schema, type Session, SqlFault, sqlFault } from "@nightwriter/database";
import { sql, type Transaction } from "kysely";

const lockNotAvailable = "55P03";

/** Where the connection has no limits of time: a process that is stopped in its turn must not stop all others for ever. */
const limits = { lock_timeout: "5s", statement_timeout: "5min" };

export interface TurnOptions {
  /** Called whenever the server's lock timeout has passed and another import is still at work. */
  readonly onWait?: (() => void) | undefined;
  /** Takes back what `work` did once it is done: it was only to be seen what comes of it. Default: false. */
  readonly dryRun?: boolean;
}

/**
 * Runs `work` in a transaction of its own, alone among all imports; commits what it did, or nothing of it. Throws SqlFault, and what `work`
 * throws.
 */
export async function inTurn<Result>(
  database: Database,
  work: (session: Session) => Promise<Result>,
  { onWait = () => {}, dryRun = false }: TurnOptions = {},
): Promise<Result> {
  return database.session(async (session) => {
    while (!(await takeTurn(session))) onWait();
    let result: Result;
    try {
      result = await work(session);
    } catch (error) {
      // The caller's fault is the news; if the connection is gone, so is the transaction.
      await session.query("rollback").catch(() => undefined);
      throw error;
    }
    await session.query(dryRun ? "rollback" : "commit");
    return result;
  });
}

/**
 * The same for a change that no import may be in mid-course beside. Throws SqlFault, and what `work` throws that is a Fault.
 */
export async function changeInTurn<Result>(
  { db }: Database,
  work: (transaction: Transaction<Schema>) => Promise<Result>,
  onWait: () => void = () => {},
): Promise<Result> {
  for (;;) {
    let isMine = false;
    try {
      return await db.transaction().execute(async (transaction) => {
        await sql`select set_config('lock_timeout', ${limits.lock_timeout}, true)`.execute(transaction);
        await sql.raw(takeLock).execute(transaction);
        isMine = true;
        return work(transaction);
      });
    } catch (error) {
      const fault = error instanceof Fault ? error : sqlFault(error);
      if (isMine || !(fault instanceof SqlFault && fault.sqlstate === lockNotAvailable)) throw fault;
      onWait();
    }
  }
}

const takeLock = "select pg_advisory_xact_lock(hashtext('nightwriter'), hashtext('sales.import'))";

async function takeTurn(session: Session): Promise<boolean> {
  await session.query("begin");
  for (const [setting, limit] of Object.entries(limits)) {
    await session.query("select set_config($1, $2, true) where current_setting($1) = '0'", [setting, limit]);
  }
  try {
    await session.query(takeLock);
    return true;
  } catch (error) {
    if (!(error instanceof SqlFault && error.sqlstate === lockNotAvailable)) throw error;
    await session.query("rollback");
    return false;
  }
}
