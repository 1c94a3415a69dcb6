/** The guarded statement on a ledger of many keys, and on an ordinary one. */
import { measurePairs } from "../figure.ts";
import { applyBatches, batchesOf } from "../guarded-batches.ts";
import { finishNight, placeOf, planNight } from "../ledger.ts";
import { stageSeconds } from "../stage.ts";
import type { Row } from "./row.ts";

const secondsPerPair = 9;
const planSeconds = 40;

/**
 * One night of all the many keys is planned, and each pair applies a slice of it that is as large as an ordinary night: keys that
 * nobody has touched tonight, strewn over all tables. Only keys of these slices have sales tonight.
 */
export const growthRow: Row = {
  name: "growth",
  seconds: (scale, pairCount) =>
    stageSeconds(scale).grown + scale.effort * planSeconds + scale.effort * secondsPerPair * (pairCount + 1),
  async measure(stage) {
    const { ordinary, scale, progress, pairCount } = stage;
    const { keyCount, manyKeyCount, salesPerKey } = scale;
    const grown = await stage.grown();
    const share = keyCount / manyKeyCount;
    progress.begin("growth: tonight's plan", scale.effort * planSeconds);
    const tonight = await planNight(grown, { salesPerKey, slice: { from: 0, to: (pairCount + 1) * share } });
    const pairs = await measurePairs(pairCount, async (pair) => {
      progress.begin(`growth: pair ${pair} of ${pairCount}`, scale.effort * secondsPerPair);
      const isInSlice = (key: string): boolean => Math.floor(placeOf(key) / share) === pair;
      const ours = await applyBatches(grown, await batchesOf(grown, tonight, isInSlice));

      const night = await planNight(ordinary, scale);
      const theirs = await applyBatches(ordinary, await batchesOf(ordinary, night));
      await finishNight(ordinary, night);
      return { ours, theirs };
    });
    return [
      {
        name: "growth",
        what: `guarded statement at ${manyKeyCount.toLocaleString("en")} keys ÷ at ${keyCount.toLocaleString("en")}`,
        unit: "items/s",
        valueUnit: "",
        bound: { atLeast: 0.7 },
        pairs,
      },
    ];
  },
};
