/** What this process says of itself: that it lives, whether it leads, how far its clock is from the database's. */
import { hostname } from "node:os";
import { Fault, type Logger } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import { type ClockWatch, markSchedulerLeft, recordSchedulerHeartbeat, schedulerStaleMs } from "@nightwriter/fleet";
import { startLoop } from "./loop.ts";

export interface Heart {
  /** Beats no more, and says that the process leaves. */
  stop(): Promise<void>;
  /** Says so at once. */
  noteLeading(leads: boolean): void;
}

export interface HeartOptions {
  readonly database: Database;
  readonly name: string;
  readonly watch: Pick<ClockWatch, "aheadMs" | "why">;
  /** Whether every scheduler does the duties, there being no lease. */
  readonly leaseless: boolean;
  readonly random: () => number;
  readonly logger: Logger;
  /** Called with a bug. */
  readonly crash: (bug: unknown) => void;
}

/** Beats from now on. A beat that weather prevents is said with the next one. */
export function startHeart({ database, name, watch, leaseless, random, logger, crash }: HeartOptions): Heart {
  const identity = { name, host: hostname(), pid: process.pid };
  let leads = false;
  let last: Promise<void> = Promise.resolve();

  async function say(what: () => Promise<void>): Promise<void> {
    try {
      await what();
    } catch (error) {
      if (!(error instanceof Fault)) return crash(error);
      logger.debug({ err: error }, "heartbeat: no answer");
    }
  }

  // One after the other, so that what is said last is what stands.
  const inTurn = async (what: () => Promise<void>): Promise<void> => (last = last.then(async () => say(what)));

  const beat = async (): Promise<void> => {
    const hindrance = watch.why();
    await recordSchedulerHeartbeat(database, {
      ...identity,
      upMs: process.uptime() * 1_000,
      leads: leaseless ? hindrance === undefined : leads,
      clockAheadMs: watch.aheadMs(),
      hindrance,
    });
  };
  const loop = startLoop({ everyMs: schedulerStaleMs / 6, random, work: async () => inTurn(beat) });
  return {
    noteLeading(now) {
      leads = now;
      void inTurn(beat);
    },
    async stop() {
      await loop.stop();
      await inTurn(async () => markSchedulerLeft(database, identity));
    },
  };
}
