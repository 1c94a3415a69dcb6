/**
 * Consumes the queue of one partition. All of it is BullMQ's Worker; this file adds the check of a job's data at the door, a
 * signal that fires when the job is no longer ours, and an end that is bounded in time.
 */
import type { Logger } from "@nightwriter/core";
import { DelayedError, type IQueueBackend, type Job, type JobProgress, UnrecoverableError, Worker } from "bullmq";
import { type QueueItem, readQueueItem } from "./queue-item.ts";
import { queueName } from "./queue-name.ts";
import {
  firstFetched,
  keepFailed,
  lockDurationMs,
  maxStalledCount,
  stalledIntervalMs,
  storeAwayPauseMs,
} from "./queue-policy.ts";
import { bullOptions, type QueueStore } from "./queue-store.ts";

/** What a handler may answer instead of nothing: put the job back and deliver it again later. Uses up no attempt. */
export interface Postponed {
  readonly postponeMs: number;
}

/** What a handler is told besides the item. */
export interface DeliveryContext {
  /** Fires when the job's lock could not be renewed (another consumer may have the job by now) and when the consumer is aborted. */
  readonly signal: AbortSignal;
  /** From 1. Counts tries that threw; a delivery after a crash or a postponement has the same number as before. */
  readonly attempt: number;
}

/** Which partition is consumed, how many items at once, and by whom. */
export interface ConsumerOptions {
  readonly job: string;
  readonly partition: number;
  /** Items in flight at most; on PostgreSQL 16, whatever is asked. They are handed over one by one and as fast as they come: batching is the handler's business. */
  readonly concurrency: number;
  /**
   * Called at least once per item, and again after a crash, a lost lock or a lost answer: duplicates are the handler's
   * business too. Returning completes the job; throwing uses up an attempt; a Fault that is not retryable fails it for good.
   */
  readonly handle: (item: QueueItem, context: DeliveryContext) => Promise<Postponed | void>;
}

/** `drained`: everything in flight was settled. `abandoned`: it was not; what is left is delivered again within 15 s. */
export type ConsumerEnd = "drained" | "abandoned";

/** A consumer that is at work, until it is stopped or aborted. */
export interface Consumer extends AsyncDisposable {
  readonly name: string;
  /**
   * Fetches nothing any more and waits until what is in flight has been handled and settled, for `deadlineMs` at most
   * (default: without end); then it aborts. Can be called again; the first call's deadline counts.
   */
  stop(options?: { readonly deadlineMs?: number }): Promise<ConsumerEnd>;
  /** Fires every signal and leaves. Nothing in flight is settled by this consumer any more. */
  abort(reason: string): Promise<void>;
}

type OpenConsumerOptions = ConsumerOptions & {
  readonly workerName: string;
  readonly onEnd: (consumer: Consumer) => void;
};

/** Starts to consume at once. Uses the store's shared connections, on Redis plus one that blocks. */
export function openConsumer(store: QueueStore, logger: Logger, options: OpenConsumerOptions): Consumer {
  const name = queueName(options.job, options.partition);
  const log = logger.child({ queue: name });
  const worker = makeWorker(store, name, options);
  worker.on("error", store.report);
  listen(worker, log);

  const abandoned = Promise.withResolvers<ConsumerEnd>();
  const abandon = async (reason: string): Promise<void> => {
    await worker.abandon(reason);
    abandoned.resolve("abandoned");
    options.onEnd(consumer);
  };
  const drain = async (deadlineMs?: number): Promise<ConsumerEnd> => {
    const late = (): void => {
      log.warn({ deadlineMs }, "consumer: not drained in time; leaving");
      void abandon("not drained in time");
    };
    const timer = deadlineMs === undefined ? undefined : setTimeout(late, deadlineMs);
    const end = await Promise.race([worker.close().then(() => "drained" as const), abandoned.promise]);
    clearTimeout(timer);
    options.onEnd(consumer);
    return end;
  };
  let ended: Promise<ConsumerEnd> | undefined;
  const consumer: Consumer = {
    name,
    stop: async ({ deadlineMs } = {}) => (ended ??= drain(deadlineMs)),
    abort: async (reason) => {
      ended ??= abandoned.promise;
      await abandon(reason);
    },
    [Symbol.asyncDispose]: async () => void (await consumer.stop()),
  };
  return consumer;
}

/** BullMQ's `close(true)` after `close()` returns the pending promise of the first, which renews locks as long as it waits. */
class PartitionWorker extends Worker<unknown, null, string, IQueueBackend, JobProgress, object> {
  /** Fires every signal, renews no lock and settles no job any more: what was in flight becomes somebody else's. */
  async abandon(reason: string): Promise<void> {
    this.cancelAllJobs(reason);
    await this.lockManager.close();
    void this.close(true);
    await this.backend.close(true);
  }
}

/**
 * BullMQ hands over nothing before it has fetched as many jobs as it may have in flight, one round trip each. So a consumer
 * begins with a few, and may have all when it has handed over these: the first are at work while the others come. (One more
 * with each is worse: for a second and more, hundreds of statements of a few items.)
 */
function makeWorker(store: QueueStore, name: string, options: OpenConsumerOptions): PartitionWorker {
  const concurrency = Math.min(options.concurrency, store.concurrencyAtMost);
  let handed = 0;
  const handle: ConsumerOptions["handle"] = async (item, context) => {
    handed += 1;
    if (handed === firstFetched) worker.concurrency = concurrency;
    return options.handle(item, context);
  };
  const worker = new PartitionWorker(
    name,
    processorOf(handle),
    {
      ...bullOptions(store),
      lockDuration: lockDurationMs,
      stalledInterval: stalledIntervalMs,
      maxStalledCount,
      runRetryDelay: storeAwayPauseMs,
      name: options.workerName,
      concurrency: Math.min(concurrency, firstFetched),
      removeOnComplete: store.keepCompleted,
      removeOnFail: keepFailed,
    },
    store.backend,
  );
  return worker;
}

/** BullMQ makes a signal only for a processor that declares three parameters. */
function processorOf(
  handle: ConsumerOptions["handle"],
): (job: Job<unknown, null>, token?: string, signal?: AbortSignal) => Promise<null> {
  return async (job, token, signal) => {
    const read = readQueueItem(job.data);
    if ("fault" in read) throw new UnrecoverableError(`not a queue item: ${read.fault}`);
    try {
      const answer = await handle(read.item, { signal: signal ?? neverAborted, attempt: job.attemptsMade + 1 });
      if (answer === undefined) return null;
      await job.moveToDelayed(Date.now() + answer.postponeMs, token);
    } catch (error) {
      throw isFinal(error) ? failedForGood(error) : error;
    }
    throw new DelayedError();
  };
}

const neverAborted = new AbortController().signal;

function isFinal(error: unknown): error is Error {
  return error instanceof Error && "retryable" in error && error.retryable === false;
}

/** With the stack of what went wrong, which is what an operator looks at. */
function failedForGood({ message, stack }: Error): UnrecoverableError {
  const failure = new UnrecoverableError(message);
  return stack === undefined ? failure : Object.assign(failure, { stack });
}

function listen(worker: PartitionWorker, log: Logger): void {
  worker.on("lockRenewalFailed", (ids) => {
    log.warn({ jobs: ids.length }, "locks lost: other consumers may have these jobs");
    for (const id of ids) worker.cancelJob(id, "lock lost");
  });
  worker.on("failed", (job, error) => {
    if (job === undefined || job.finishedOn === undefined) return;
    log.error({ jobId: job.id, attempts: job.attemptsMade, err: error }, "job failed for good");
  });
  let recovered = 0;
  worker.on("stalled", () => {
    // One event per job, all in one go: one line for them all.
    if (recovered === 0)
      queueMicrotask(() => {
        log.warn({ jobs: recovered }, "jobs of a consumer that died are back in the queue");
        recovered = 0;
      });
    recovered += 1;
  });
}
