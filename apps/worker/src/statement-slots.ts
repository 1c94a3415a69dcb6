/**
 * Turns at the database: as many statements under way as there are connections, and first come, first served.
 *
 * Each partition asks for one turn at a time, so partitions with work take turns, and none can starve another however
 * much it has. The pool's own queue would be as fair, but there a batch would have to be complete before it waits;
 * here it gathers until its turn comes.
 */
import { invariant } from "@nightwriter/core";

export interface StatementSlots {
  /** Resolves, in the order of the calls, when a slot is free. The caller has it until it calls what it is handed, once. */
  acquire(): Promise<() => void>;
}

/** `count` is at least 1. */
export function createStatementSlots(count: number): StatementSlots {
  invariant(count >= 1, `statement slots: ${count} is not at least 1`);
  const queue: (() => void)[] = [];
  let free = count;

  function release(): void {
    const next = queue.shift();
    if (next === undefined) free += 1;
    else next();
  }

  function lend(): () => void {
    let held = true;
    return () => {
      invariant(held, "statement slot: given back twice");
      held = false;
      release();
    };
  }

  return {
    async acquire() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => queue.push(resolve));
      return lend();
    },
  };
}
