/**
 * Whether the database answers, and how far this process's clock is from its, asked all the time on a connection of its own.
 *
 * A leader whose database is silent must not keep others from leading, however well the lease store answers; and its duties
 * would tell too late, since a plan may take minutes when all is well.
 */
import { type Clock, Fault } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import type { ClockWatch } from "@nightwriter/fleet";
import { createLeaseObstacle } from "@nightwriter/lease";
import { databaseNow } from "@nightwriter/schedule";
import { startLoop } from "./loop.ts";

export interface DatabasePulse extends AsyncDisposable {
  /** Why this process must not lead, as a text for the log; undefined: nothing is in the way. */
  obstacle(): string | undefined;
}

export interface DatabasePulseOptions {
  /** Whose statements end within `silenceMs`. */
  readonly database: Database;
  readonly everyMs: number;
  /** A database that has been silent for longer is an obstacle. */
  readonly silenceMs: number;
  readonly clock: Clock;
  /** Compares this process's clock with the database's. */
  readonly watch: ClockWatch;
  readonly random: () => number;
  readonly crash: (bug: unknown) => void;
}

/** Asks from now on, until it is disposed of. */
export function startDatabasePulse(options: DatabasePulseOptions): DatabasePulse {
  const { database, everyMs, silenceMs, clock, watch, random, crash } = options;
  const silence = createLeaseObstacle(clock, silenceMs);
  const ask = async (): Promise<void> => {
    try {
      await watch.compare(() => silence.noteAnswer(() => databaseNow(database)));
    } catch (error) {
      if (!(error instanceof Fault)) crash(error);
    }
  };
  const loop = startLoop({ everyMs, random, work: ask });
  return {
    obstacle: () => silence.why() ?? watch.why(),
    [Symbol.asyncDispose]: () => loop.stop(),
  };
}
