/**
 * Consumes one partition of a job: each queue job that is delivered gives its item to the batcher, waits for the outcome,
 * and ends as `settle` says.
 *
 * Thousands of items are in hand at a time, so nothing here is done per item but to wait: logging, counting and reading
 * terms again are done once per batch.
 */
import { Fault, type Logger } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { applyItems, type Failure, type Item, type ItemOutcome, setAside } from "@nightwriter/ledger";
import type { Term } from "@nightwriter/partition";
import { partitionName } from "@nightwriter/partition";
import type { Consumer, Postponed, QueueItem, Queues } from "@nightwriter/queue";
import { pause } from "../backoff.ts";
import type { StatementSlots } from "../statement-slots.ts";
import { metAnotherTerm, type Tally } from "../tally.ts";
import type { Warrant } from "../warrant/warrant.ts";
import { type Batcher, createBatcher } from "./batcher.ts";
import type { FailureReports } from "./report-failures.ts";
import { batchLimit, settle, type Unsent } from "./settle.ts";
import { createStuckItems } from "./stuck-items.ts";
import { createWeather, type Weather } from "./weather.ts";

/** What all partitions of a process share. */
export interface ConsumerContext {
  readonly database: Database;
  readonly queues: Queues;
  readonly slots: StatementSlots;
  readonly tally: Tally;
  readonly reports: FailureReports;
  readonly logger: Logger;
  /** Who writes: goes into every entry. */
  readonly worker: string;
  readonly batchSize: number;
  /** Queue jobs in hand per partition, at most. */
  readonly concurrency: number;
  /** Called with what nobody can handle. Does not return to work. */
  readonly crash: (bug: unknown) => void;
}

export interface ConsumedPartition {
  readonly job: Job;
  readonly partition: number;
  readonly warrant: Warrant;
  /** Aborts when the partition is to be left: what is in hand is settled, what can only be tried again goes back to the queue. */
  readonly leaving: AbortSignal;
}

const unsent: Unsent = { outcome: "unsent" };
const nothing = (): void => undefined;

/**
 * A batch that is not full waits so long. A queue hands out the successors of 200 completed jobs within a few
 * milliseconds, not all at once; without this they would be torn into two or three statements.
 */
const lingerMs = 5;

/** Consumes from now on, until the returned consumer is stopped. When the warrant ends, nothing in hand waits any longer. */
export function startPartitionConsumer(context: ConsumerContext, consumed: ConsumedPartition): Consumer {
  const { batchSize, crash } = context;
  const { warrant, leaving } = consumed;
  const hurry = AbortSignal.any([leaving, warrant.ended]);
  const weather = createWeather({ pause: async (ms) => pause(ms, hurry), random: Math.random });
  const batcher: Batcher<Item, ItemOutcome | Unsent> = createBatcher({
    size: batchSize,
    keyOf: ({ key }) => key,
    linger: async () => pause(lingerMs, hurry),
    ready: async () => {
      await weather.calm();
      return warrant.ended.aborted ? nothing : context.slots.acquire();
    },
    apply: (items) =>
      applyBatch(context, { ...consumed, weather }, items).catch((bug: unknown) => {
        // Nobody may wait for the answer any more.
        crash(bug);
        throw bug;
      }),
  });
  warrant.ended.addEventListener("abort", () => batcher.close(unsent), { once: true });
  const stuck = createStuckItems();

  async function handle(delivered: QueueItem): Promise<Postponed | undefined> {
    const item = { runId: BigInt(delivered.runId), key: delivered.key, businessDate: delivered.businessDate };
    let history = stuck.recall(item);
    let outcome = await batcher.submit(item, batchLimit(history, batchSize));
    for (;;) {
      const settlement = settle(outcome, history, {
        leaving: leaving.aborted,
        ended: warrant.ended.aborted,
        batchSize,
        appliedCount: context.tally.counters.applied,
        random: Math.random,
      });
      switch (settlement.next) {
        case "complete":
          stuck.forget(item);
          return undefined;
        case "postpone":
          if (settlement.history !== undefined) stuck.remember(item, settlement.history);
          context.tally.countPostponed();
          return { postponeMs: settlement.afterMs };
        case "park":
          history = settlement.history;
          outcome = await park(context, consumed, { item, failure: settlement.failure });
          break;
        case "again":
          history = settlement.history;
          await pause(settlement.afterMs, hurry);
          outcome = await batcher.submit(item, batchLimit(history, batchSize));
      }
    }
  }

  return context.queues.startConsumer({
    job: consumed.job.definition.name,
    partition: consumed.partition,
    concurrency: context.concurrency,
    handle: (delivered) =>
      handle(delivered).catch((bug: unknown) => {
        crash(bug);
        throw bug;
      }),
  });
}

/** Sets aside what only the worker can judge, under the term that the partition is held under. */
async function park(
  context: ConsumerContext,
  { job, partition, warrant }: ConsumedPartition,
  { item, failure }: { readonly item: Item; readonly failure: Failure },
): Promise<ItemOutcome | Unsent> {
  const { database, worker, logger, reports, tally } = context;
  const term = warrant.term();
  if (term === undefined) return unsent;
  const outcome = await setAside({ database, job, term, worker, logger }, item, failure);
  tally.countBatch(partitionName({ job, partition }), [outcome]);
  reports.report({ job: job.definition.name, partition }, [item], [outcome]);
  return outcome;
}

async function applyBatch(
  context: ConsumerContext,
  consumed: ConsumedPartition & { readonly weather: Weather },
  items: readonly Item[],
): Promise<readonly (ItemOutcome | Unsent)[]> {
  const { database, worker, logger, tally } = context;
  const { job, partition, warrant, weather } = consumed;
  const where = { job: job.definition.name, partition };
  const term = warrant.term();
  if (term === undefined) return items.map(() => unsent);
  const mayWrite = (): boolean => warrant.term() !== undefined;
  const outcomes = await applyItems({ database, job, term, worker, logger, mayWrite }, items);
  tally.countBatch(partitionName(consumed), outcomes);
  context.reports.report(where, items, outcomes);
  logger.debug({ ...where, items: items.length }, "batch answered");
  const unknown = outcomes.find((each) => each.outcome === "unknown");
  if (unknown !== undefined) {
    const fields = { ...where, items: items.length, err: unknown.fault };
    if (weather.bad()) logger.warn(fields, "batch met weather: trying again");
  } else {
    weather.good();
  }
  if (outcomes.some(metAnotherTerm)) await askForTerm(term);
  return outcomes;

  async function askForTerm(refused: Term): Promise<void> {
    try {
      await warrant.refused(refused);
    } catch (error) {
      // Weather: the next write is fenced again, after a pause, and comes here again.
      if (!(error instanceof Fault && error.retryable)) throw error;
      if (weather.bad()) logger.warn({ ...where, err: error }, "term not read");
    }
  }
}
