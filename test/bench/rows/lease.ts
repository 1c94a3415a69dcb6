/** What leases cost: a night under them, and one of the same size by a worker that has none. */
import { invariant } from "@nightwriter/core";
import { startWorker } from "../consumers.ts";
import { measurePairs } from "../figure.ts";
import { finishNight, planNight } from "../ledger.ts";
import { openNightQueues } from "../night-queues.ts";
import type { Row } from "./row.ts";

const secondsPerPair = 20;

export const leaseRow: Row = {
  name: "lease",
  seconds: ({ effort }, pairCount) => effort * secondsPerPair * (pairCount + 1),
  async measure({ ordinary, redisUrl, scale, progress, pairCount }) {
    await using queues = await openNightQueues(ordinary, redisUrl, "leased");
    const worked = async (leaseUrl: string): Promise<number> => {
      const night = await planNight(ordinary, scale);
      await queues.pause();
      const enqueued = await queues.enqueue(night);
      invariant(enqueued === night.itemCount, `night of ${night.itemCount}: ${enqueued} were enqueued`);
      const seconds = await consumed(leaseUrl);
      await finishNight(ordinary, night);
      return night.itemCount / seconds;
    };
    const consumed = async (leaseUrl: string): Promise<number> => {
      await using worker = await startWorker(queues, ordinary.url, leaseUrl);
      return await queues.consumed(worker);
    };
    const pairs = await measurePairs(pairCount, async (pair) => {
      progress.begin(`lease: pair ${pair} of ${pairCount}`, scale.effort * secondsPerPair);
      // Each goes first in every other pair: the second night finds a longer history.
      if (pair % 2 === 0) return { ours: await worked(redisUrl), theirs: await worked("none") };
      const theirs = await worked("none");
      return { ours: await worked(redisUrl), theirs };
    });
    await queues.clear();
    const what = `night of ${scale.keyCount.toLocaleString("en")} × ${scale.salesPerKey} sales under leases in Redis ÷ without`;
    return [{ name: "lease", what, unit: "items/s", valueUnit: "", bound: { atLeast: 0.95 }, pairs }];
  },
};
