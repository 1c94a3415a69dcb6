/**
 * A batch of items: write, and for whatever was not written, ask why until each item has its outcome.
 *
 * - A unique violation of the item means that somebody wrote one of the items while this statement waited. Nothing of the
 *   batch was written; the others are tried again without it. One of the version means that a total's row is behind its
 *   ledger: the explanation says which.
 * - Whatever else the server refuses and waiting does not mend belongs to one key: the batch is halved until that key is
 *   alone. There it must fail once more, after the same statement over no items has passed: else it is the statement that
 *   is wrong, or was for a moment, and nobody is blamed.
 * - Weather and lost answers: what the write did is looked up, never assumed. What has no entry is `unknown`, not failed:
 *   the statement may still be on its way.
 * - An item that is not written although nothing stands in its way, twice, with nothing that it asks for touched in
 *   between, is a bug of ours, and is parked as one instead of being tried for ever.
 */
import { setTimeout as delay } from "node:timers/promises";
import { SqlFault } from "@nightwriter/database";
import type { ApplyContext } from "./apply-context.ts";
import { isCounterBehind } from "./damage.ts";
import { explainItems } from "./explain-items.ts";
import { type ExplanationRow, isUntouched } from "./explain-outcomes.ts";
import type { Failure, Item, ItemOutcome } from "./item.ts";
import { obstacle } from "./obstacle.ts";
import { isOurs, isRefusal } from "./refusal.ts";
import { proveWrite, sendWrite } from "./send-write.ts";

/** How often a batch whose versions moved is tried within one call, before `conflict` is answered. */
const rounds = 3;
/**
 * How many keys are found out one by one in one call. Where more fail, most do, and halving costs two statements for each: the
 * rest of a half that fails is `failing` as a whole, to be tried again one by one.
 */
const failuresAtMost = 100;

/** One call's items and what is known of each so far. */
export class Batch {
  readonly #context: ApplyContext;
  readonly #items: readonly Item[];
  readonly #settled = new Map<Item, ItemOutcome>();
  /** What the explanation of the round before said of an item that nothing stood in the way of. */
  readonly #seen = new Map<Item, ExplanationRow>();
  #failures = 0;

  constructor(context: ApplyContext, items: readonly Item[]) {
    this.#context = context;
    this.#items = items;
  }

  outcomes(): ReadonlyMap<Item, ItemOutcome> {
    return this.#settled;
  }

  /** Afterwards each item has its outcome. Throws what {@link applyItems} throws. */
  async settle(): Promise<void> {
    for (let round = 1; round <= rounds && this.#open().length > 0; round++) {
      if (round > 1) await delay(Math.random() * 10 * round);
      await this.#write(this.#open());
    }
    for (const item of this.#open()) this.#settled.set(item, { outcome: "conflict" });
  }

  #open(items = this.#items): Item[] {
    return items.filter((item) => !this.#settled.has(item));
  }

  /** One statement over `items`, or, where a key's own data breaks it, one over each half; none if none may be sent any more. */
  async #write(items: readonly Item[]): Promise<void> {
    if (this.#context.mayWrite?.() === false) return;
    const { applied, fault } = await sendWrite(this.#context, items);
    for (const [item, outcome] of applied) this.#settled.set(item, outcome);
    if (isOurs(fault)) throw fault;
    if (isRefusal(fault) && !isItemTaken(fault) && !isVersionTaken(fault)) return this.#isolate(items, fault);
    await this.#explain(items, fault);
    if (isRefusal(fault) && isVersionTaken(fault) && this.#open(items).length === items.length)
      await this.#isolate(items, fault);
  }

  async #isolate(items: readonly Item[], fault: SqlFault): Promise<void> {
    const [only] = items;
    if (only !== undefined && items.length === 1) return this.#judge(only);
    if (this.#failures >= failuresAtMost) {
      for (const item of items) this.#settled.set(item, { outcome: "failing", ...failureOf(fault) });
      return;
    }
    const half = Math.ceil(items.length / 2);
    await this.#write(items.slice(0, half));
    await this.#write(items.slice(half));
  }

  /** The item was refused alone: is it the statement's fault, and will it be again? */
  async #judge(item: Item): Promise<void> {
    const weather = await proveWrite(this.#context);
    if (weather !== undefined) return void this.#settled.set(item, { outcome: "unknown", fault: weather });
    if (this.#context.mayWrite?.() === false) return;
    const again = await sendWrite(this.#context, [item]);
    for (const [each, outcome] of again.applied) this.#settled.set(each, outcome);
    if (isOurs(again.fault)) throw again.fault;
    await this.#explain([item], again.fault, { isOwn: true });
  }

  /**
   * Asks why the items without outcome were not applied; after weather, those that have no entry are unknown. Nothing was tried
   * for an item whose statement another item's duplicate broke, so that nothing is concluded from its total not having moved.
   * `isOwn`: the fault is that of the only item.
   */
  async #explain(items: readonly Item[], fault: SqlFault | undefined, { isOwn = false } = {}): Promise<void> {
    const asked = this.#open(items);
    if (asked.length === 0) return;
    const explained = await explainItems(this.#context, asked);
    this.#tellCounter(explained.values());
    for (const [item, row] of explained) {
      const outcome = row instanceof SqlFault ? unexplained(row, fault) : this.#conclude(item, row, { fault, isOwn });
      if (outcome === undefined) continue;
      this.#settled.set(item, outcome);
      if (outcome.outcome === "parked") this.#failures += 1;
    }
  }

  #conclude(
    item: Item,
    row: ExplanationRow,
    { fault, isOwn }: { fault: SqlFault | undefined; isOwn: boolean },
  ): ItemOutcome | undefined {
    const unknown = fault?.retryable === true ? fault : undefined;
    const found = obstacle(row, this.#context.term);
    // The entry may be this very write's, whose answer was lost: nobody can say that it was refused.
    if (found?.outcome === "duplicate" && unknown !== undefined) return { outcome: "duplicate" };
    if (found !== undefined) return found;
    if (unknown !== undefined) return { outcome: "unknown", fault: unknown };
    if (isOwn && isRefusal(fault) && !isItemTaken(fault)) return { outcome: "parked", ...failureOf(fault) };
    const before = this.#seen.get(item);
    if (fault === undefined && before !== undefined && isUntouched(before, row)) {
      const reason = `bug: not applied at version ${row.version} although nothing stood in its way`;
      return { outcome: "parked", sqlstate: undefined, reason };
    }
    this.#seen.set(item, row);
    return undefined;
  }

  /** The job's own damage: no key is blamed, and the next term that is raised mends it. */
  #tellCounter(rows: Iterable<ExplanationRow | SqlFault>): void {
    for (const row of rows) {
      if (row instanceof SqlFault || !isCounterBehind(row)) continue;
      const { job, logger } = this.#context;
      const fields = { job: job.definition.name, counter: row.counter, term: row.greatest_term };
      logger.error(
        fields,
        `job ${job.definition.name}: its counter ${row.counter} is below token ${row.greatest_term} of a term; the next term must begin above that`,
      );
      return;
    }
  }
}

/** The item has its entry. */
const isItemTaken = (fault: SqlFault): boolean => fault.details["constraint"] === "ledger_entry_item";

/** The key has an entry with this version. */
const isVersionTaken = (fault: SqlFault): boolean => fault.details["constraint"] === "ledger_entry_version";

function failureOf(fault: SqlFault): Failure {
  const { sqlstate, message } = fault;
  if (!isVersionTaken(fault)) return { sqlstate, reason: message };
  return { sqlstate, damage: "row behind its ledger", reason: `row behind its ledger: ${message}` };
}

/** The tables could not be asked about the item: weather, or its rows cannot be read. */
function unexplained(fault: SqlFault, cause: SqlFault | undefined): ItemOutcome {
  if (isRefusal(fault)) return { outcome: "parked", ...failureOf(fault) };
  return { outcome: "unknown", fault: cause?.retryable === true ? cause : fault };
}
