/**
 * The tick: a hint that a night is due, and nothing more. node-cron leaves a tick out on the night when clocks go forward over it,
 * and never runs one that it missed; whatever it does, the catch-up has the last word.
 */
import { schedule } from "node-cron";
import type { Duty } from "./duty.ts";

export interface CronHint {
  /** Listens to no more ticks, and waits for the night that the last one started. */
  stop(): Promise<void>;
}

/**
 * Calls `run` at each tick of the job's cron in its zone, with the instant that the tick is for by this process's clock: what is due
 * by then is for the database's to say. `run` must not reject.
 */
export function startCronHint({ job, logger }: Duty, run: (tickedAt: Temporal.Instant) => Promise<void>): CronHint {
  const { cron, timeZone } = job.definition;
  let underWay: Promise<void> = Promise.resolve();
  const task = schedule(
    cron,
    async ({ date }) => {
      // The tick's own date: the handler may be called a little before or after it.
      await (underWay = run(date.toTemporalInstant()));
    },
    {
      timezone: timeZone,
      noOverlap: true,
      logger: {
        debug: (message) => logger.debug({ cron }, String(message)),
        info: (message) => logger.info({ cron }, message),
        warn: (message) => logger.warn({ cron }, message),
        error: (message, error) => logger.error({ cron, err: error ?? message }, "cron hint failed"),
      },
    },
  );
  return {
    async stop() {
      await task.destroy();
      await underWay;
    },
  };
}
