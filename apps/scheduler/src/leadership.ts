/**
 * Who of many schedulers does the duties: the holder of one lease. The others stand by, and ask for it again and again.
 *
 * It saves work and nothing else. Every duty is idempotent: of two leaders at a time, as a lease store that forgets may make
 * them, one finds little to do. So a leader that has lost its lease begins no duty, and finishes the one under way.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@nightwriter/core";
import { type Lease, LeaseFault, type LeaseKeeper, type LeaseStore } from "@nightwriter/lease";

export interface Leadership {
  /** Lets others lead at once, then waits for what is under way here. */
  stop(): Promise<void>;
}

export interface LeadershipOptions {
  readonly store: Pick<LeaseStore, "find" | "ttlMs">;
  readonly keeper: LeaseKeeper;
  /** Starts what the leader does, and it alone. `mayBegin` is true for as long as the lease may be trusted. */
  readonly startDuties: (mayBegin: () => boolean) => { stop(): Promise<void> };
  /** Told when it begins to lead, and when it leads no more. */
  readonly noteLeading: (leads: boolean) => void;
  /** In [0, 1). Spreads those who ask. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Called with a bug, which nobody can handle; must end the process. */
  readonly crash: (bug: unknown) => void;
}

const leaseName = "scheduler";
/** However long a lease is, who takes over does so this much later than it could at most, and a fifth. */
const askEveryMs = 1_000;

/** Stands for leadership from now on. A lease store that is away is waited for: until it is back, nobody leads. */
export function startLeadership(options: LeadershipOptions): Leadership {
  const stopping = new AbortController();
  const ended = stand(options, stopping.signal).catch(options.crash);
  return {
    async stop() {
      stopping.abort("stopping");
      await ended;
    },
  };
}

async function stand(options: LeadershipOptions, stopping: AbortSignal): Promise<void> {
  const { keeper, store, random } = options;
  const everyMs = Math.min(askEveryMs, store.ttlMs / 20);
  let seen: string | undefined;
  while (!stopping.aborted) {
    const lease = await keeper.acquire(leaseName).catch(unlessLeaseFault);
    if (lease === undefined) seen = await noteLeader(options, seen);
    else await lead(options, lease, stopping);
    await sleep(everyMs * (0.8 + 0.4 * random()), undefined, { signal: stopping }).catch(() => undefined);
  }
}

async function lead(
  { keeper, startDuties, noteLeading, logger }: LeadershipOptions,
  lease: Lease,
  stopping: AbortSignal,
): Promise<void> {
  if (stopping.aborted) return keeper.release(lease);
  logger.info({ leader: lease.holder, nonce: lease.nonce, storeToken: lease.storeToken }, "leading");
  noteLeading(true);
  const duties = startDuties(() => lease.leftMs() > 0);
  const over = AbortSignal.any([lease.lost, stopping]);
  await aborted(over);
  logger.info({ leader: lease.holder, nonce: lease.nonce, why: over.reason }, "leading no more");
  noteLeading(false);
  await Promise.all([keeper.release(lease), duties.stop()]);
}

/** Logs who leads, once for each term; returns the nonce of the term that was seen. */
async function noteLeader({ store, logger }: LeadershipOptions, seen: string | undefined): Promise<string | undefined> {
  const sights = await store.find([leaseName]).catch(unlessLeaseFault);
  const sight = sights?.get(leaseName);
  if (sight === undefined || sight.nonce === seen) return seen;
  logger.info({ leader: sight.holder, nonce: sight.nonce }, "standing by");
  return sight.nonce;
}

/** The keeper has logged it. */
function unlessLeaseFault(error: unknown): undefined {
  if (!(error instanceof LeaseFault)) throw error;
}

async function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await promise;
}
