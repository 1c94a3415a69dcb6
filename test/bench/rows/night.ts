/** A night through the queue: one worker process, and one that consumes the same jobs and does nothing. */
import { invariant } from "@nightwriter/core";
import { peakMemoryMb, startBareWorker, startWorker } from "../consumers.ts";
import { type Figure, measurePairs } from "../figure.ts";
import { finishNight, planNight } from "../ledger.ts";
import { openNightQueues } from "../night-queues.ts";
import type { Row } from "./row.ts";

const secondsPerPair = 20;

export const nightRow: Row = {
  name: "night",
  seconds: ({ effort }, pairCount) => effort * secondsPerPair * (pairCount + 1),
  async measure({ ordinary, redisUrl, scale, progress, pairCount }) {
    await using queues = await openNightQueues(ordinary, redisUrl, "night");
    await using bareQueues = await openNightQueues(ordinary, redisUrl, "bare");
    const peaks: (number | undefined)[] = [];
    const pairs = await measurePairs(pairCount, async (pair) => {
      progress.begin(`night: pair ${pair} of ${pairCount}`, scale.effort * secondsPerPair);
      const night = await planNight(ordinary, scale);
      // Both consume the jobs of the same items: the bare one asks Postgres nothing, so it does not matter to it whose they are.
      for (const each of [queues, bareQueues]) {
        await each.pause();
        const enqueued = await each.enqueue(night);
        invariant(enqueued === night.itemCount, `night of ${night.itemCount}: ${enqueued} were enqueued`);
      }
      const ours = await worked();
      await finishNight(ordinary, night);
      return { ours, theirs: await consumedBare(night.itemCount) };

      async function worked(): Promise<number> {
        await using worker = await startWorker(queues, ordinary.url);
        const seconds = await queues.consumed(worker);
        peaks.push(await peakMemoryMb(worker));
        return night.itemCount / seconds;
      }
    });
    await Promise.all([queues.clear(), bareQueues.clear()]);
    const what = `night of ${scale.keyCount.toLocaleString("en")} × ${scale.salesPerKey} sales, Redis, 1 worker ÷ no-op jobs of bare BullMQ`;
    const speed: Figure = { name: "night", what, unit: "items/s", valueUnit: "", bound: { atLeast: 0.6 }, pairs };
    return [speed, ...memoryFigure(peaks.slice(1))];

    async function consumedBare(count: number): Promise<number> {
      await using worker = await startBareWorker(bareQueues);
      return count / (await bareQueues.consumed(worker));
    }
  },
};

/** Absent where the system does not tell. */
function memoryFigure(peaks: readonly (number | undefined)[]): Figure[] {
  const pairs = peaks.flatMap((peak) => (peak === undefined ? [] : [{ ours: peak, theirs: 0, value: peak }]));
  if (pairs.length === 0) return [];
  const what = "peak memory of the worker during that night";
  return [{ name: "memory", what, unit: "", valueUnit: "MB", bound: { atMost: 300 }, pairs }];
}
