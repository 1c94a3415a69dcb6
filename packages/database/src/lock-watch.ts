/**
 * Who keeps a statement waiting for a lock. Once the server has given up, the wait is gone, and nothing that it keeps tells any more
 * what was waited for. So it is asked while there is a wait: a statement that has been under way for a quarter of its lock timeout is
 * looked at again and again, on a connection of its own, until it is done. Should it then end for want of a lock, its error says who had that.
 *
 * Who waits behind others that wait is told the one at their head: ending that one helps all of them.
 */
import { Stream } from "node:stream";
import pg from "pg";
import { type Blocker, blockerColumns, describeBlockers } from "./blocker.ts";
import { withSettings } from "./session-settings.ts";

export interface LockWatchOptions {
  readonly url: string;
  readonly applicationName: string;
  /** After which their statements give up; 0: each says for itself. */
  readonly lockTimeoutMs: number;
}

/** As much of a driver's client as is needed: whoever brings a pool of its own has a type of its own for it. */
export interface WatchedClient {
  query: (...statement: never[]) => unknown;
}

export interface LockWatch {
  /** From now on a lock timeout of what this client sends names the sessions that were in the way, in its message and as `blockedBy`. */
  over(client: WatchedClient): void;
  /** Ends its connection, if there is one. What is under way is watched no more. */
  end(): Promise<void>;
}

interface Running {
  readonly pid: number;
  readonly sinceMs: number;
  /** Who was in the way when it was looked at last. */
  blockers: readonly Blocker[];
}

const lockNotAvailable = "55P03";
const looksPerTimeout = 4;
/** A long wait is looked at so often, and one whose limit is not known. */
const everyAtMostMs = 1_000;
const toldAtMost = 3;
/** The connection is kept for as long, in case that there is more to see. */
const keptMs = 10_000;

/** Connects when there is something to ask for, and to nothing before. What it cannot ask it does not tell. */
export function startLockWatch(options: LockWatchOptions): LockWatch {
  const { lockTimeoutMs } = options;
  const everyMs = Math.min(everyAtMostMs, Math.max(10, (lockTimeoutMs || Infinity) / looksPerTimeout));
  const running = new Set<Running>();
  const pool = askingPool(options);
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;

  const look = async (): Promise<void> => {
    const longMs = performance.now() - everyMs;
    const long = [...running].filter(({ sinceMs }) => sinceMs <= longMs);
    if (long.length === 0 || isLooking) return;
    isLooking = true;
    const found = await findBlockers(
      pool,
      long.map(({ pid }) => pid),
    ).catch(() => undefined);
    isLooking = false;
    for (const each of long) each.blockers = found?.get(each.pid) ?? each.blockers;
  };
  // Most statements are over long before anything is to be looked at: no timer of its own for each.
  const tick = (): void => {
    if (running.size > 0) return void look();
    clearInterval(timer);
    timer = undefined;
  };
  const begin = (pid: number): Running => {
    const statement: Running = { pid, sinceMs: performance.now(), blockers: [] };
    running.add(statement);
    timer ??= setInterval(tick, everyMs).unref();
    return statement;
  };
  const done = (statement: Running, error?: unknown): void => {
    running.delete(statement);
    if (isLockTimeout(error)) tell(error, statement.blockers);
  };
  return {
    over(client) {
      const query = client.query.bind(client) as (...statement: unknown[]) => unknown;
      client.query = (...statement: unknown[]) => {
        const watched = begin(pidOf(client));
        return following(query, statement, (error) => done(watched, error));
      };
    },
    async end() {
      clearInterval(timer);
      if (!pool.ending) await pool.end();
    },
  };
}

/** Sends it, and calls `onEnd` before whoever waits for its end hears of that, in each of the three ways in which the driver lets one wait. */
function following(
  query: (...statement: unknown[]) => unknown,
  statement: readonly unknown[],
  onEnd: (error?: unknown) => void,
): unknown {
  const callback = statement.at(-1);
  if (typeof callback === "function") {
    return query(...statement.slice(0, -1), (error: unknown, answer: unknown) => {
      onEnd(error);
      callback(error, answer);
    });
  }
  const sent = query(...statement);
  if (sent instanceof Promise) {
    return sent.then(
      (answer: unknown) => {
        onEnd();
        return answer;
      },
      (error: unknown) => {
        onEnd(error);
        throw error;
      },
    );
  }
  // A COPY. A cursor is not watched: nobody would say that it is done, and its statement waits while it is read.
  if (sent instanceof Stream) sent.prependListener("error", onEnd).once("close", () => onEnd());
  else onEnd();
  return sent;
}

/** The types of the driver leave it out. */
function pidOf(client: object): number {
  return "processID" in client && typeof client.processID === "number" ? client.processID : -1;
}

function isLockTimeout(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === lockNotAvailable;
}

function tell(error: Error, blockers: readonly Blocker[]): void {
  if (blockers.length === 0) return;
  error.message += `; waited for ${describeBlockers(blockers)}`;
  Object.assign(error, { blockedBy: blockers.map(({ pid }) => pid).join(",") });
}

function askingPool({ url, applicationName }: LockWatchOptions): pg.Pool {
  const own = withSettings(url, {});
  const patienceMs = 2_000;
  const pool = new pg.Pool({
    connectionString: own.url,
    options: own.options,
    application_name: applicationName,
    max: 1,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
    idleTimeoutMillis: keptMs,
    allowExitOnIdle: true,
  });
  const ignore = (): void => undefined;
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));
  return pool;
}

/** By the waiting session's pid, those at the head of whom it waits for; whoever waits for no lock is left out. */
async function findBlockers(pool: pg.Pool, pids: readonly number[]): Promise<Map<number, Blocker[]>> {
  const { rows } = await pool.query<Blocker & { waiter: number }>(
    `with recursive chain (waiter, pid) as (
      select w.pid, b.pid from pg_stat_activity w, unnest(pg_blocking_pids(w.pid)) as b (pid)
      where w.pid = any($1::int[]) and w.wait_event_type = 'Lock'
      union
      select c.waiter, b.pid from chain c, unnest(pg_blocking_pids(c.pid)) as b (pid)
    )
    select c.waiter, c.pid, ${blockerColumns}
    from chain c left join pg_stat_activity a on a.pid = c.pid
    where cardinality(pg_blocking_pids(c.pid)) = 0
    order by a.xact_start`,
    [pids],
  );
  const found = new Map<number, Blocker[]>();
  for (const { waiter, ...blocker } of rows) {
    const known = found.get(waiter) ?? [];
    if (known.length < toldAtMost) known.push(blocker);
    found.set(waiter, known);
  }
  return found;
}
