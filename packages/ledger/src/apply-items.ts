/**
 * Applying a batch of items: write, and for whatever was not written, ask why until each item has its outcome.
 *
 * - A unique violation means that somebody wrote one of the items while this statement waited. Nothing of the batch was
 *   written; the others are tried again without it.
 * - An error of the data itself belongs to one key: the batch is halved until that key is alone, and it is parked.
 *   The others are not held up.
 * - Weather and lost answers: what the write did is looked up, never assumed. What has no entry is `unknown`, not failed:
 *   the statement may still be on its way.
 * - An item that is not written although nothing stands in its way, twice, with nothing that it asks for touched in
 *   between, is a bug of ours, and is parked as one instead of being tried for ever.
 */
import { setTimeout as delay } from "node:timers/promises";
import { invariant, type Logger } from "@nightwriter/core";
import { type Database, type SqlFault, sqlFault } from "@nightwriter/database";
import { assertQueryVersion, type Job } from "@nightwriter/job";
import type { Term } from "@nightwriter/partition";
import { type FailedAttempt, recordAttempts } from "./attempt-store.ts";
import { type ExplanationRow, isUntouched, obstacle } from "./explain-outcomes.ts";
import { givenItems } from "./given-items.ts";
import type { Item, ItemOutcome } from "./item.ts";
import { type ParkAnswer, type ParkedItem, parkItems } from "./park-items.ts";
import { inGateOrder } from "./run-gate.ts";
import { statementsOf } from "./statements.ts";

export interface ApplyContext {
  readonly database: Database;
  readonly job: Job;
  /** The term under which the partition of all the items is held. */
  readonly term: Term;
  /** Who writes: stands in each entry and attempt. */
  readonly worker: string;
  readonly logger: Logger;
  /**
   * Asked before each write of a call, of which there may be many: whether another may be sent. What was not written when it
   * says no is a `conflict`. Default: always.
   */
  readonly mayWrite?: () => boolean;
}

/** Items in one statement, at most. */
export const maxBatchSize = 500;
/** How often a batch whose versions moved is tried within one call, before `conflict` is answered. */
const rounds = 3;

/**
 * Applies up to {@link maxBatchSize} items of one partition, at most one for each key, and answers in their order. When it
 * returns, each `applied` and `duplicate` item has exactly one entry, durably; no other item was changed by this call,
 * except that `unknown` ones may still become applied. Throws SqlFault `bug` when the statement itself is wrong
 * (a source query that does not fit the schema) and a Fault when a newer build has changed the source query: nothing was
 * written then, and this process must not go on.
 */
export async function applyItems(context: ApplyContext, items: readonly Item[]): Promise<ItemOutcome[]> {
  invariant(items.length <= maxBatchSize, `batch of ${items.length} items: at most ${maxBatchSize} go into one`);
  invariant(new Set(items.map((item) => item.key)).size === items.length, "batch: a key is in it twice");
  const batch = new Batch(context, items);
  await batch.settle();
  return batch.outcomes();
}

/** One call's items and what is known of each so far. */
class Batch {
  readonly #context: ApplyContext;
  readonly #items: readonly Item[];
  readonly #settled = new Map<Item, ItemOutcome>();
  /** What the explanation of the round before said of an item that nothing stood in the way of. */
  readonly #seen = new Map<Item, ExplanationRow>();

  constructor(context: ApplyContext, items: readonly Item[]) {
    this.#context = context;
    this.#items = items;
  }

  outcomes(): ItemOutcome[] {
    return this.#items.map((item) => {
      const outcome = this.#settled.get(item);
      invariant(outcome !== undefined, `item of key ${item.key}: has no outcome`);
      return outcome;
    });
  }

  async settle(): Promise<void> {
    for (let round = 1; round <= rounds && this.#open().length > 0; round++) {
      if (round > 1) await delay(Math.random() * 10 * round);
      await this.#write(this.#open());
    }
    for (const item of this.#open()) this.#settled.set(item, { outcome: "conflict" });
    await this.#record();
  }

  #open(): Item[] {
    return this.#items.filter((item) => !this.#settled.has(item));
  }

  /** One statement over `items`, or, where a key's own data breaks it, one over each half; none if none may be sent any more. */
  async #write(items: readonly Item[]): Promise<void> {
    if (this.#context.mayWrite?.() === false) return;
    let fault: SqlFault | undefined;
    try {
      const replicated = await this.#attempt(items);
      if (replicated && items.every((item) => this.#settled.has(item))) return;
    } catch (error) {
      fault = sqlFault(error);
    }
    switch (fault?.code) {
      case "bug":
        throw fault;
      case "data":
        await this.#isolate(items, fault);
        return;
      case "weather":
      case "lost":
      case "duplicate":
      case undefined:
        await this.#explain(items, fault);
    }
  }

  /** Runs the write and notes what it applied; false: applied here, but a standby was not waited for. */
  async #attempt(items: readonly Item[]): Promise<boolean> {
    const { database, job, term, worker } = this.#context;
    const answer = await database.run(
      statementsOf(database, job).write.bind({
        ...givenItems(items),
        runs: inGateOrder(items.map((item) => item.runId)),
        partition: term.partition,
        fencingToken: term.fencingToken,
        nonce: term.nonce,
        worker,
      }),
    );
    if (answer.warnings.includes("01000")) return false;
    const byKey = new Map(items.map((item) => [item.key, item]));
    for (const row of answer.rows) {
      const item = byKey.get(row.key);
      invariant(item !== undefined, `key ${row.key}: was written without being asked for`);
      this.#settled.set(item, {
        outcome: "applied",
        deltaMinor: row.delta_minor,
        sourceCount: row.source_count,
        totalAfter: row.total_after,
        versionAfter: row.version_after,
      });
    }
    return true;
  }

  async #isolate(items: readonly Item[], fault: SqlFault): Promise<void> {
    const [only] = items;
    if (only !== undefined && items.length === 1) {
      this.#settled.set(only, { outcome: "parked", sqlstate: fault.sqlstate, reason: fault.message });
      return;
    }
    const half = Math.ceil(items.length / 2);
    await this.#write(items.slice(0, half));
    await this.#write(items.slice(half));
  }

  /**
   * Asks why the items without outcome were not applied; after weather, those that have no entry are unknown. Nothing was tried
   * for an item whose statement another item's duplicate broke, so that nothing is concluded from its total not having moved.
   */
  async #explain(items: readonly Item[], fault: SqlFault | undefined): Promise<void> {
    const { database, job, term } = this.#context;
    const asked = items.filter((item) => !this.#settled.has(item));
    let rows: ExplanationRow[];
    try {
      const values = { ...givenItems(asked), partition: term.partition };
      rows = (await database.run(statementsOf(database, job).explain.bind(values))).rows;
    } catch (error) {
      const reason = retryable(fault) ?? sqlFault(error);
      for (const item of asked) this.#settled.set(item, { outcome: "unknown", fault: reason });
      return;
    }
    const byKey = new Map(rows.map((row) => [row.key, row]));
    for (const { query_version } of rows) assertQueryVersion(query_version, job);
    for (const item of asked) this.#conclude(item, byKey.get(item.key), fault);
  }

  #conclude(item: Item, row: ExplanationRow | undefined, fault: SqlFault | undefined): void {
    invariant(row !== undefined, `item of key ${item.key}: the explanation left it out`);
    const unknown = retryable(fault);
    const found = obstacle(row, this.#context.term);
    if (found?.outcome === "duplicate" && unknown !== undefined) {
      // The entry may be this very write's, whose answer was lost: nobody can say that it was refused.
      this.#settled.set(item, { outcome: "duplicate" });
    } else if (found !== undefined) {
      this.#settled.set(item, found);
    } else if (unknown !== undefined) {
      this.#settled.set(item, { outcome: "unknown", fault: unknown });
    } else if (fault === undefined && this.#isUntouched(item, row)) {
      const reason = `bug: not applied at version ${row.version} although nothing stood in its way`;
      this.#settled.set(item, { outcome: "parked", sqlstate: undefined, reason });
    } else {
      this.#seen.set(item, row);
    }
  }

  #isUntouched(item: Item, row: ExplanationRow): boolean {
    const before = this.#seen.get(item);
    return before !== undefined && isUntouched(before, row);
  }

  /** Writes down what did not apply. Parking must succeed to count; the rest is for the record, and weather may lose it. */
  async #record(): Promise<void> {
    await this.#park(this.#failed().filter((each): each is ParkedItem => each.outcome.outcome === "parked"));
    const { database, term, worker, logger } = this.#context;
    const others = this.#failed().filter((each) => each.outcome.outcome !== "parked");
    await recordAttempts(database, others, { fencingToken: term.fencingToken, worker }).catch((error: unknown) => {
      logger.warn({ err: error, attempts: others.length }, "attempts not recorded");
    });
  }

  #failed(): FailedAttempt[] {
    return this.#items.flatMap((item): FailedAttempt[] => {
      const outcome = this.#settled.get(item);
      return outcome === undefined || outcome.outcome === "applied" ? [] : [{ item, outcome }];
    });
  }

  /** What the park left alone was settled by somebody else meanwhile, or is no longer mine to judge. */
  async #park(parked: readonly ParkedItem[]): Promise<void> {
    if (parked.length === 0) return;
    const { database, job, term, worker } = this.#context;
    try {
      const answers = await parkItems(database, { job, term, parked, worker });
      for (const [index, { item, outcome }] of parked.entries()) {
        this.#settled.set(item, settled(answers[index], outcome));
      }
    } catch (error) {
      const fault = sqlFault(error);
      if (!fault.retryable) throw fault;
      for (const { item } of parked) this.#settled.set(item, { outcome: "unknown", fault });
    }
  }
}

function settled(answer: ParkAnswer | undefined, parked: ParkedItem["outcome"]): ItemOutcome {
  invariant(answer !== undefined, "each item that was to be parked has its answer");
  switch (answer.outcome) {
    case "parked":
      return parked;
    case "applied":
      return { ...answer, outcome: "duplicate" };
    case "fenced":
    case "withdrawn":
      return answer;
  }
}

function retryable(fault: SqlFault | undefined): SqlFault | undefined {
  return fault?.retryable === true ? fault : undefined;
}
