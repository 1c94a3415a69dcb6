/**
 * How a process ends. Asked once, it finishes what is in flight; asked twice, it leaves at once; broken, it says why and
 * exits with 1. Whatever is lost when it leaves at once is recovered by others: that is what the queue and the ledger are for.
 */
import type { Logger } from "@nightwriter/core";

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof exitCodes;

/** How a process ends, and how long that may take. */
export interface ShutdownOptions {
  readonly logger: Logger;
  /** Stops fetching, finishes what is in flight, closes everything. Called once, at the first signal. */
  readonly stop: (signal: Signal) => Promise<void>;
  /** Milliseconds that `stop` may take. After them the process exits with 1 and leaves the rest to be redelivered. */
  readonly deadlineMs: number;
}

/**
 * From now on SIGTERM and SIGINT end this process: the first one runs `stop` and exits with 0, or with 1 when `stop` failed
 * or took longer than the deadline; the second one exits at once with 128 plus the signal's number. An uncaught
 * exception or an unhandled rejection is logged as fatal and exits with 1 without `stop`: what is broken cannot be trusted to end well.
 *
 * Returns a function that undoes all of it.
 */
export function onShutdown(options: ShutdownOptions): () => void {
  let stopping = false;
  const onSignal = (signal: Signal): void => {
    if (stopping) {
      options.logger.warn({ signal }, "second signal: leaving at once; what was in flight will be redelivered");
      process.exit(exitCodes[signal]);
    }
    stopping = true;
    options.logger.info({ signal, deadlineMs: options.deadlineMs }, "stopping: finishing what is in flight");
    void stopWithin(options, signal).then((code) => process.exit(code));
  };
  const undoCrash = exitOnCrash(options.logger);
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return () => {
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
    undoCrash();
  };
}

/** Logs an uncaught exception or an unhandled rejection as fatal and exits with 1. Returns a function that undoes it. */
export function exitOnCrash(logger: Logger): () => void {
  const crash = (error: unknown): void => {
    logger.fatal({ err: error }, "uncaught: exiting");
    process.exit(1);
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  return () => {
    process.off("uncaughtException", crash);
    process.off("unhandledRejection", crash);
  };
}

async function stopWithin({ logger, stop, deadlineMs }: ShutdownOptions, signal: Signal): Promise<0 | 1> {
  const { promise: deadline, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(resolve, deadlineMs, "late");
  try {
    const ended = await Promise.race([stop(signal).then(() => "stopped" as const), deadline]);
    if (ended === "stopped") {
      logger.info({ signal }, "stopped");
      return 0;
    }
    logger.error({ signal, deadlineMs }, "not stopped in time: leaving; what was in flight will be redelivered");
  } catch (error) {
    logger.error({ signal, err: error }, "stopping failed: leaving");
  } finally {
    clearTimeout(timer);
  }
  return 1;
}
