/** A duty that is done again and again, and never twice at once. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Loop {
  /** Begins nothing any more; waits for what is under way. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  readonly everyMs: number;
  /** In [0, 1). Spreads processes that were started together. */
  readonly random: () => number;
  /** Does the duty once. Must not reject. */
  readonly work: () => Promise<void>;
}

/** Does the work at once, and then again `everyMs`, give or take a fifth, after it was done. */
export function startLoop(options: LoopOptions): Loop {
  const stopping = new AbortController();
  const ended = run(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

async function run({ everyMs, random, work }: LoopOptions, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await work();
    const pauseMs = everyMs * (0.8 + 0.4 * random());
    await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
  }
}
