/**
 * One partition in the hands of this process, from the first try to take it until nothing of it is left.
 *
 *     taking ──▶ consuming ──▶ ending ──▶ gone
 *        └──────────────────────────────────▲   somebody else has it
 *
 * Handed over: fetch nothing more, settle what is in hand, close, seal, release. So the next holder begins when nothing of
 * this one can be sent any more. When the warrant has ended by itself (fenced, lost), there is nothing to wait for: what is in
 * hand goes back to the queue at once, and the lease is released by its exact claim before the consumer has closed.
 *
 * A consumer may hang while it closes, when its store is half open. That holds up nobody but this partition in this process:
 * it does not count as consuming, and is not taken again before it is gone.
 */
import type { Logger } from "@nightwriter/core";
import type { Consumer } from "@nightwriter/queue";
import { endingOf, type Warrant } from "../warrant/warrant.ts";
import type { OwnPartition } from "./membership.ts";

export interface Holding {
  readonly own: OwnPartition;
  isConsuming(): boolean;
  /** It is to end in good order. */
  handOver(): void;
  /** Resolves when it consumes, or is gone without having done so. */
  readonly taken: Promise<void>;
  /** Resolves when nothing of it is left in this process. Rejects with a bug. */
  readonly gone: Promise<void>;
}

export interface HoldingOptions {
  /** Undefined: somebody else has it. */
  readonly take: (own: OwnPartition, logger: Logger) => Promise<Warrant | undefined>;
  /** Consumes under the warrant; what can only be tried again goes back to the queue once `leaving` has aborted. */
  readonly consume: (own: OwnPartition, warrant: Warrant, leaving: AbortSignal) => Consumer;
  /** How long what is in hand may take to be settled. Undefined: as long as it takes. */
  readonly drainMs: number | undefined;
  readonly logger: Logger;
}

/** Tries once to take the partition; it is gone at once if somebody else has it. */
export function hold(options: HoldingOptions, own: OwnPartition): Holding {
  const { name: job } = own.job.definition;
  const logger = options.logger.child({ job, partition: own.partition });
  const leaving = new AbortController();
  const taken = Promise.withResolvers<void>();
  let consuming = false;

  async function live(): Promise<void> {
    const warrant = await options.take(own, logger);
    if (warrant === undefined) return;
    const fencingToken = warrant.term()?.fencingToken;
    if (leaving.signal.aborted || fencingToken === undefined) return warrant.giveUp();
    const consumer = options.consume(own, warrant, leaving.signal);
    consuming = true;
    logger.info({ fencingToken, atNs: process.hrtime.bigint() }, "partition consumed");
    taken.resolve();
    await eitherAborts(leaving.signal, warrant.ended);
    consuming = false;
    const stopping = consumer.stop(options.drainMs === undefined ? {} : { deadlineMs: options.drainMs });
    await Promise.race([stopping, aborts(warrant.ended)]);
    const atNs = process.hrtime.bigint();
    const givingUp = warrant.giveUp();
    logger.info({ fencingToken, atNs, why: endingOf(warrant) }, "partition left");
    await Promise.all([givingUp, stopping]);
  }

  return {
    own,
    isConsuming: () => consuming,
    handOver: () => leaving.abort(),
    taken: taken.promise,
    gone: live().finally(taken.resolve),
  };
}

async function aborts(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

async function eitherAborts(one: AbortSignal, other: AbortSignal): Promise<void> {
  await aborts(AbortSignal.any([one, other]));
}
