import { setTimeout } from "node:timers/promises";
import type { Installation } from "../installation.ts";
import type { AppProcess } from "../stack/app-process.ts";
import { appliedByWorker } from "./ledger-facts.ts";

/** How a worker was killed. */
export interface Struck {
  readonly worker: string;
  /** Items that each worker had applied when it happened; the one that was killed is among them. */
  readonly applied: ReadonlyMap<string, number>;
}

export interface StrikeOptions {
  readonly workers: readonly AppProcess[];
  /** Items of the night. */
  readonly items: number;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 25;

/**
 * Kills the first worker with SIGKILL as soon as every worker has applied something, the night is between a third and
 * nine tenths done, and looks again at the ledger. Returns undefined if the night went by before that.
 */
export async function strikeHalfWay(
  { database, job }: Installation,
  { workers, items, signal }: StrikeOptions,
): Promise<Struck | undefined> {
  const [victim] = workers;
  for (;;) {
    const applied = await appliedByWorker(database, job);
    const done = applied.values().reduce((sum, count) => sum + count, 0);
    if (victim === undefined || done > items * 0.9) return undefined;
    if (done >= items / 3 && workers.every(({ name }) => (applied.get(name) ?? 0) > 0)) {
      await victim.kill();
      return { worker: victim.name, applied: await appliedByWorker(database, job) };
    }
    await setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
