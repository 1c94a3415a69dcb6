/** What this process says of itself to the fleet, and that it leaves. */
import { hostname } from "node:os";
import type { Clock } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import { markLeft, recordHeartbeat, type WorkerIdentity } from "@nightwriter/fleet";
import type { Tally } from "../tally.ts";

export interface Heart {
  /** Throws SqlFault; what was to be said is said with the next one. */
  beat(): Promise<void>;
  /** Afterwards the others take this process for gone. To be called when no heartbeat is under way any more. Throws SqlFault. */
  leave(): Promise<void>;
}

export interface HeartOptions {
  readonly database: Database;
  readonly name: string;
  readonly tally: Pick<Tally, "counters" | "entryTimes">;
  readonly clock: Clock;
}

export function createHeart({ database, name, tally, clock }: HeartOptions): Heart {
  const identity: WorkerIdentity = { name, host: hostname(), pid: process.pid };
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return {
    async beat() {
      const nowMs = clock.monotonicMs();
      const unsaid = [...tally.entryTimes].filter(([, atMs]) => atMs >= saidAtMs);
      await recordHeartbeat(database, {
        ...identity,
        upMs: process.uptime() * 1_000,
        refusedWrites: tally.counters.refusedWrites,
        lastEntriesAgoMs: Object.fromEntries(unsaid.map(([partition, atMs]) => [partition, nowMs - atMs])),
      });
      saidAtMs = nowMs;
    },
    leave: async () => markLeft(database, identity),
  };
}
