/**
 * A member of the fleet: says that it lives, looks who else does, and takes and hands over partitions accordingly.
 *
 * Five loops, none of which waits for another: to beat; to see which partitions are mine; to see which are held by nobody; to
 * bring what I have into line with that; to ask whether the queue answers. Whatever the weather does to one of them, the others go on, and what was known last
 * stands until something newer is known.
 */
import { Fault, type Logger } from "@nightwriter/core";
import { type LeaseObstacle, toleranceMs } from "@nightwriter/lease";
import { pause } from "../backoff.ts";
import type { Heart } from "./heartbeat.ts";
import type { Holdings } from "./holdings.ts";
import type { Membership, Share } from "./membership.ts";
import type { Unheld } from "./unheld.ts";

export interface FleetMember {
  /** Leaves the fleet, so that others want its partitions at once, and hands all of them over. */
  leave(): Promise<void>;
}

export interface FleetMemberOptions {
  readonly heart: Heart;
  readonly membership: Membership;
  readonly holdings: Holdings;
  readonly obstacle: LeaseObstacle;
  /** How the lease store is seen. Undefined: there are no leases. */
  readonly leases: { readonly unheld: Unheld; readonly answeredAgoMs: () => number } | undefined;
  /** How the queue's store is asked whether it answers. Undefined: it is not asked. */
  readonly queue: { readonly obstacle: LeaseObstacle; readonly ping: () => Promise<void> } | undefined;
  readonly leaseMs: number;
  readonly logger: Logger;
  /** Called with a bug. */
  readonly crash: (bug: unknown) => void;
}

/**
 * In parts of a lease. A worker that others take for dead (`staleAfterMs`) must have missed seven heartbeats; a partition that
 * is handed over is found free after a fortieth at most.
 */
const beats = 10;
const looks = 20;
const tries = 40;
/** A longer lease is no reason to look less often: what somebody leaves in good order is to be others' in 2 s. */
const longestPacedMs = 10_000;
/** A worker whose lease store has been silent for longer does not beat: its heartbeat would keep its partitions from others. */
export const silenceShare = 0.3;

/** Joins, and takes what is free of its own share; what weather prevents now is tried again by the loops. */
export async function joinFleet(options: FleetMemberOptions): Promise<FleetMember> {
  const { heart, membership, holdings, obstacle, leases, queue, leaseMs, logger } = options;
  const leaving = new AbortController();
  let share: Share = new Map();

  const beat = async (): Promise<void> => {
    if (leases !== undefined && leases.answeredAgoMs() > toleranceMs(leaseMs, silenceShare)) return;
    if (queue?.obstacle.why() !== undefined) return;
    await obstacle.noteAnswer(() => heart.beat());
  };
  const look = async (): Promise<void> => {
    share = await obstacle.noteAnswer(() => membership.look());
    holdings.adjust(share);
  };
  const lookForUnheld = async (): Promise<void> => leases?.unheld.look([...share.keys()]);

  const every = async (parts: number, work: () => Promise<void> | void): Promise<void> => {
    while (!leaving.signal.aborted) {
      await pause(Math.min(leaseMs, longestPacedMs) / parts, leaving.signal);
      if (!leaving.signal.aborted) await passWeather(work);
    }
  };
  const passWeather = async (work: () => Promise<void> | void): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Fault && error.retryable)) options.crash(error);
      else logger.debug({ err: error }, "fleet: no answer");
    }
  };

  for (const work of [lookForUnheld, beat, look]) await passWeather(work);
  await holdings.settled();
  const beating = every(beats, beat);
  // Nobody waits for the last of its questions, which a silent store keeps for a while.
  if (queue !== undefined) void every(looks, () => queue.obstacle.noteAnswer(queue.ping));
  const loops = [every(looks, look), every(beats, lookForUnheld), every(tries, () => holdings.adjust(share))];
  return {
    async leave() {
      leaving.abort();
      const left = beating.then(() => passWeather(() => heart.leave()));
      await Promise.all([left, holdings.end(), ...loops]);
    },
  };
}
