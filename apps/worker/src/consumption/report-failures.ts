/**
 * What an operator hears of items that cannot be applied: a line for each that is parked, with what to do, and one a minute for each
 * run and cause whose items fail in such numbers that no more are parked.
 */
import type { Clock, Logger } from "@nightwriter/core";
import type { Failure, Item, ItemOutcome } from "@nightwriter/ledger";

export interface FailureReports {
  /** `where` names job and partition in each line. */
  report(where: object, items: readonly Item[], outcomes: readonly { readonly outcome: string }[]): void;
}

const everyMs = 60_000;

export function createFailureReports(logger: Logger, clock: Clock): FailureReports {
  const toldAtMs = new Map<string, number>();

  function tellParked(where: object, item: Item, failure: Failure): void {
    const { key, businessDate } = item;
    const retry = `nightwriter items retry --key ${quoted(key)} --date ${businessDate} --reason TEXT`;
    logger.error(
      { ...where, ...fieldsOf(item, failure) },
      `key ${key} ${businessDate}: parked, ${failure.reason}; mend it, then: ${retry}`,
    );
  }

  function tellFailing(where: object, item: Item, failure: Failure): void {
    const cause = failure.damage ?? failure.sqlstate ?? "bug";
    const id = `${item.runId} ${cause}`;
    const nowMs = clock.monotonicMs();
    if (nowMs - (toldAtMs.get(id) ?? -Infinity) < everyMs) return;
    toldAtMs.set(id, nowMs);
    logger.error(
      { ...where, ...fieldsOf(item, failure) },
      `run ${item.runId}: many items fail with ${cause} and are not parked any more, they stay due; mend what they have in common, ` +
        `and they are applied by themselves: key ${item.key} ${item.businessDate}: ${failure.reason}`,
    );
  }

  return {
    report(where, items, outcomes) {
      for (const [index, item] of items.entries()) {
        const outcome = outcomes[index] as ItemOutcome | undefined;
        if (outcome?.outcome === "parked") tellParked(where, item, outcome);
        else if (outcome?.outcome === "failing") tellFailing(where, item, outcome);
      }
    },
  };
}

function fieldsOf({ runId, key, businessDate }: Item, { sqlstate, damage, reason }: Failure): object {
  return { run: runId, key, businessDate, sqlstate, damage, error: reason };
}

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w.,:@%+/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
