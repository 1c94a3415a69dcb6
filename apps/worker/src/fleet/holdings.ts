/** All holdings of this process: what it has is brought into line with what it should have. */
import type { Clock } from "@nightwriter/core";
import { type Holding, type HoldingOptions, hold } from "./holding.ts";
import type { OwnPartition, Share } from "./membership.ts";

export interface Holdings {
  /**
   * Hands over what is not in the share, or was of a partition count that is no more, and tries to take what is missing. Returns at
   * once. What is on its way out is left alone, and not taken again before it is gone.
   */
  adjust(share: Share): void;
  /** Partitions that this process consumes now. */
  consuming(): OwnPartition[];
  /** Resolves when every try to take a partition that was begun before has succeeded or failed. */
  settled(): Promise<void>;
  /** Hands everything over and takes nothing any more; resolves when nothing is left. */
  end(): Promise<void>;
}

export interface HoldingsOptions extends HoldingOptions {
  readonly clock: Clock;
  /** How long nobody has held the partition, in milliseconds. */
  readonly unheldMs: (partition: string) => number;
  /** How long each of those who are to stand in for an absent holder before me gets to do so. */
  readonly patienceMs: number;
  /** How long a stand-in keeps a partition before whoever it is assigned to gets another try. */
  readonly standInMs: number;
  /** Called with a bug. */
  readonly crash: (bug: unknown) => void;
}

interface Kept {
  readonly holding: Holding;
  /** By the monotonic clock. Undefined: it was mine when I took it. */
  readonly standInUntilMs: number | undefined;
}

export function createHoldings(options: HoldingsOptions): Holdings {
  const { clock, unheldMs, patienceMs, standInMs, crash } = options;
  const all = new Map<string, Kept>();
  let ending = false;

  function isMine(name: string, { rank }: OwnPartition): boolean {
    return rank === 0 || unheldMs(name) >= rank * patienceMs;
  }

  function isKept({ holding, standInUntilMs = 0 }: Kept, now: OwnPartition | undefined): boolean {
    if (now === undefined || now.job !== holding.own.job) return false;
    return now.rank === 0 || clock.monotonicMs() < standInUntilMs;
  }

  function begin(name: string, own: OwnPartition): void {
    const holding = hold(options, own);
    all.set(name, { holding, standInUntilMs: own.rank === 0 ? undefined : clock.monotonicMs() + standInMs });
    void holding.gone.then(() => all.delete(name), crash);
  }

  return {
    adjust(share) {
      if (ending) return;
      for (const [name, kept] of all) if (!isKept(kept, share.get(name))) kept.holding.handOver();
      for (const [name, own] of share) if (!all.has(name) && isMine(name, own)) begin(name, own);
    },
    consuming: () => [...all.values()].filter(({ holding }) => holding.isConsuming()).map(({ holding }) => holding.own),
    settled: async () => void (await Promise.all([...all.values()].map(({ holding }) => holding.taken))),
    async end() {
      ending = true;
      for (const { holding } of all.values()) holding.handOver();
      await Promise.all([...all.values()].map(({ holding }) => holding.gone));
    },
  };
}
