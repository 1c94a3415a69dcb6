/** How patient the queue is, with the reason for each number. */
import type { DefaultJobOptions, KeepJobs } from "bullmq";

/**
 * Retries of a handler that threw. What is expected to go wrong never gets here: a worker rides out weather and parks
 * what is poisonous itself. Five tries over about half a minute cover the rest; then the job is failed, for a person to
 * see, and the reconciler puts the item back under a new generation when Postgres still calls it due. Jitter spreads
 * what failed together.
 */
export const jobOptions: DefaultJobOptions = {
  attempts: 5,
  backoff: { type: "exponential", delay: 1_000, jitter: 0.5 },
  stackTraceLimit: 3,
};

/**
 * A dead worker's jobs are taken over after at most the sum: the lock has run out, and the next check has seen it. A check is one
 * question per partition. What is left to the promised 15 s is for a busy machine, on which it took 18 s with checks every 5 s.
 */
export const lockDurationMs = 10_000;
export const stalledIntervalMs = 2_500;

/**
 * Every crash of a worker counts as one stall of each job that it had in flight, and BullMQ fails a job for good when it has
 * stalled more often than this, whatever `attempts` says. Its default of 1 loses work at the second crash of a night. A
 * crash costs at least lockDuration, so 100 of them are a quarter of an hour of nothing but crashes: by then one of the
 * jobs itself is what kills the workers, and it must stop.
 */
export const maxStalledCount = 100;

/** What a failed job leaves behind: enough to look at, per partition, and not for ever. */
export const keepFailed: KeepJobs = { age: 14 * 24 * 3_600, count: 5_000 };

/** How many jobs a consumer fetches before it hands over the first: enough for a statement that is worth its commit. */
export const firstFetched = 50;

/** Events are for nobody but a curious operator (Bull Board reads states): a short stream saves memory. */
export const keptEvents = 1_000;

/** How long a consumer waits before it asks a store that was away again. BullMQ's 15 s would be added to every outage. */
export const storeAwayPauseMs = 1_000;
