/** A transaction that stays open until the test says so. */

import { setTimeout } from "node:timers/promises";
import type { Database, Schema } from "@nightwriter/database";
import { type Kysely, sql } from "kysely";

/** A transaction that is open on a connection of its own. */
export interface HeldBack extends AsyncDisposable {
  /** Runs one statement in it. */
  run(text: string, parameters?: readonly unknown[]): Promise<void>;
  /** Records a sale that nobody else sees before `commit`. */
  recordSale(sale: { restaurant: string; businessDate: string; amountMinor: number }): Promise<void>;
  /** Waits until somebody waits for a lock that this transaction has. */
  waitedFor(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A look takes a core from whom it waits for. */
const LOOK_EVERY_MS = 20;

let sources = 0;

/** Begins a transaction on a connection of its own. Disposal rolls it back if it is still open. */
export async function heldBack(database: Database): Promise<HeldBack> {
  const begun = Promise.withResolvers<HeldBack>();
  const ended = Promise.withResolvers<void>();
  const whole = database.session(async (session) => {
    await session.query("begin");
    const [own] = await session.query<{ pid: number }>("select pg_backend_pid() as pid");
    const run: HeldBack["run"] = async (text, parameters) => void (await session.query(text, parameters));
    let open = true;
    const end = async (text: string): Promise<void> => {
      if (!open) return;
      open = false;
      await run(text);
      ended.resolve();
      await whole;
    };
    begun.resolve({
      run,
      recordSale: async ({ restaurant, businessDate, amountMinor }) => {
        sources += 1;
        const row = [restaurant, businessDate, `held back ${sources}`, 1, amountMinor];
        const columns = "restaurant_id, business_date, source, source_line, amount_minor";
        await run(`insert into sales.sale (${columns}) values ($1, $2, $3, $4, $5)`, row);
      },
      waitedFor: async () => {
        for (;;) {
          const { rows } = await sql<{ waiting: number }>`
            select count(*)::int as waiting from pg_stat_activity where ${own?.pid} = any(pg_blocking_pids(pid))`.execute(
            database.db,
          );
          if ((rows[0]?.waiting ?? 0) > 0) return;
          await setTimeout(LOOK_EVERY_MS);
        }
      },
      commit: () => end("commit"),
      rollback: () => end("rollback"),
      [Symbol.asyncDispose]: () => end("rollback"),
    });
    await ended.promise;
  });
  await Promise.race([begun.promise, whole]);
  return begun.promise;
}

/** Resolves when somebody in this database waits for an advisory lock. */
export async function advisoryWaiter(db: Kysely<Schema>): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(db);
    if (rows.length > 0) return;
    await setTimeout(LOOK_EVERY_MS);
  }
}
