import { loadConfig } from "@nightwriter/config";
import { migrateToLatest, pendingLocks, pendingSql, type TableLock } from "@nightwriter/database";
import { schemaLists } from "@nightwriter/restaurant-totals";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { makeRoles } from "../make-roles.ts";
import { openLogger } from "../open-logger.ts";
import { plural } from "../output/format.ts";
import type { Terminal } from "../terminal.ts";

export interface MigrateVerbOptions {
  readonly dryRun: boolean;
  /** Whether the roles are made as well, with their grants. */
  readonly roles: boolean;
  /** How long locks may be waited for, in milliseconds. */
  readonly patience?: number | undefined;
}

/** Brings the schema up to date, or says with which SQL that would be done. */
export async function migrate(terminal: Terminal, { dryRun, roles, patience }: MigrateVerbOptions): Promise<Answer> {
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  // Patient: a migration takes as long as it takes, and what it waits for is another one.
  await using database = await connectDatabase({ config, verb: "migrate", logger, patient: true });
  const locks = await pendingLocks(database, schemaLists);
  if (dryRun) {
    const pending = await pendingSql(database, schemaLists, { roles });
    const sql = pending.map((statement) => (statement.startsWith("--") ? statement : `${statement};`));
    const text = pending.length === 0 ? "-- up to date: nothing to run" : sql.join("\n");
    const announced = locks.map((lock) => `-- ${lockText(lock, locks)}`);
    return answer({
      inOrder: true,
      document: { pending, ...lockDocument(locks) },
      text: [...announced, text].join("\n"),
    });
  }
  for (const lock of locks) terminal.note(lockText(lock, locks));
  const { applied, epoch } = await migrateToLatest(database, {
    lists: schemaLists,
    ...(patience !== undefined && { patienceMs: patience }),
    onBlocked: ({ who, againInMs }) =>
      terminal.note(`waits for ${who}; nobody is kept waiting, tried again in ${againInMs / 1_000} s`),
    onIndex: (statement) => terminal.note(`runs beside those who write: ${statement}`),
  });
  const lines = applied.map((name) => `applied ${name}`);
  if (epoch.started && epoch.epoch > 1) lines.push(epochText(epoch.epoch));
  lines.push(applied.length === 0 ? "up to date" : `${plural(applied.length, "migration")} applied`);
  if (roles) lines.push(await makeRoles(database, { config, logger }));
  return answer({ inOrder: true, document: { applied, epoch, roles, ...lockDocument(locks) }, text: lines.join("\n") });
}

/** A new epoch is another installation: where the former one has claimed the prefix, every process is refused until somebody says that it is gone. */
function epochText(epoch: number): string {
  const next = "if its processes are gone for good: nightwriter installation take-over --reason TEXT";
  return `epoch ${epoch} begins: the data came from another cluster, whose prefix in Redis, etcd or ZooKeeper is still claimed; ${next}`;
}

/** All locks are kept until the end of the migration, so what takes long about one table keeps the others too. */
function lockText({ table, mode, whole }: TableLock, locks: readonly TableLock[]): string {
  const who = mode === "access exclusive" ? "nobody reads or writes it" : "nobody writes it";
  const slow = locks.filter((each) => each.whole).map((each) => each.table);
  const until = slow.length === 0 ? "for a moment" : `until the rows of ${slow.join(", ")} are done`;
  const time = whole ? "for as long as its rows take" : until;
  return `locks ${table}: ${who} ${time}`;
}

function lockDocument(locks: readonly TableLock[]): { locks?: readonly TableLock[] } {
  return locks.length === 0 ? {} : { locks };
}
