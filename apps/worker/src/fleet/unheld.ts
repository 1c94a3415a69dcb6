/**
 * For how long nobody has held a partition, as far as this process has seen.
 *
 * A partition that is assigned to a worker who lives and does not take it (its queue's store is out of its reach, for one)
 * would wait for ever. So everybody looks, and the next in rank takes it after a while. The look is a question to the lease
 * store, so it also says whether that answers.
 */
import type { Clock } from "@nightwriter/core";
import { LeaseFault, type LeaseStore, nobodysLease } from "@nightwriter/lease";

export interface Unheld {
  /** Looks at these leases. A look that fails is none: what was seen before it is forgotten. */
  look(names: readonly string[]): Promise<void>;
  /** Milliseconds since the lease was first seen unheld, with no look since that saw it held. */
  unheldMs(name: string): number;
  /** Milliseconds since the store answered a look, counted from before it. Infinity: never yet. */
  answeredAgoMs(): number;
}

export function createUnheld(store: Pick<LeaseStore, "find">, clock: Clock): Unheld {
  const since = new Map<string, number>();
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  return {
    async look(names) {
      const askedAtMs = clock.monotonicMs();
      try {
        const held = await store.find(names.length === 0 ? [nobodysLease] : names);
        answeredAtMs = askedAtMs;
        for (const name of new Set([...since.keys(), ...names])) {
          if (held.has(name) || !names.includes(name)) since.delete(name);
          else if (!since.has(name)) since.set(name, askedAtMs);
        }
      } catch (error) {
        // The keeper asks the same store, and logs it.
        if (!(error instanceof LeaseFault)) throw error;
        since.clear();
      }
    },
    unheldMs(name) {
      const sinceMs = since.get(name);
      return sinceMs === undefined ? 0 : clock.monotonicMs() - sinceMs;
    },
    answeredAgoMs: () => clock.monotonicMs() - answeredAtMs,
  };
}
