/**
 * Indexes of large tables, which are built beside those who write. That is not possible in a transaction, so they come after their
 * migration's, and what is missing or was left half built is seen by looking.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./open-database.ts";
import type { Session } from "./session.ts";

export interface ConcurrentIndex {
  /** In the schema of its table. */
  readonly name: string;
  readonly unique?: boolean;
  /** As `schema.table`. */
  readonly table: string;
  /** What follows the table's name: `(job_id, key)`. */
  readonly on: string;
}

/** Any constant would do. */
const buildersLock = 0x6e777269;
const pollMs = 100;

/** The statements that are still to be run. Throws SqlFault. */
export async function missingIndexes(
  session: Session,
  indexes: readonly ConcurrentIndex[],
): Promise<readonly string[]> {
  const statements: string[] = [];
  for (const index of indexes) {
    const qualified = `${index.table.split(".")[0]}.${index.name}`;
    const [row] = await session.query<{ valid: boolean }>(
      "select indisvalid as valid from pg_index where indexrelid = to_regclass($1)",
      [qualified],
    );
    if (row?.valid === true) continue;
    if (row?.valid === false) statements.push(`drop index concurrently ${qualified}`);
    statements.push(createStatement(index, "concurrently "));
  }
  return statements;
}

/** For tables that are as new as the index: nobody waits for them. */
export function plainStatements(indexes: readonly ConcurrentIndex[]): readonly string[] {
  return indexes.map((index) => createStatement(index, ""));
}

function createStatement({ name, unique, table, on }: ConcurrentIndex, how: "concurrently " | ""): string {
  return `create ${unique === true ? "unique " : ""}index ${how}${name} on ${table} ${on}`;
}

/** Afterwards all of them are there and valid, however many build them at once. `onBuild` is called before each statement. Throws SqlFault. */
export async function buildIndexes(
  database: Database,
  indexes: readonly ConcurrentIndex[],
  onBuild: (statement: string) => void,
): Promise<void> {
  await database.session(async (session) => {
    if ((await missingIndexes(session, indexes)).length === 0) return;
    await takeTurn(session);
    try {
      await session.query("set statement_timeout = 0");
      for (const statement of await missingIndexes(session, indexes)) {
        onBuild(statement);
        await session.query(statement);
      }
    } finally {
      await session.query("reset statement_timeout");
      await session.query("select pg_advisory_unlock($1)", [buildersLock]);
    }
  });
}

/** Asked again and again: a statement that waited for the lock would have a snapshot, and the build waits for all that have one. */
async function takeTurn(session: Session): Promise<void> {
  for (;;) {
    const [row] = await session.query<{ mine: boolean }>("select pg_try_advisory_lock($1) as mine", [buildersLock]);
    if (row?.mine === true) return;
    await sleep(pollMs);
  }
}
