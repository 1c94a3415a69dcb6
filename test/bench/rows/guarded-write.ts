/** The guarded statement, and one statement over all keys that does the same work and protects nothing. */
import { invariant } from "@nightwriter/core";
import { measurePairs } from "../figure.ts";
import { applyBatches, batchesOf } from "../guarded-batches.ts";
import { finishNight, planNight } from "../ledger.ts";
import { setBasedWrite } from "../set-based-write.ts";
import type { Row } from "./row.ts";

const secondsPerPair = 9;

export const guardedWriteRow: Row = {
  name: "write",
  seconds: ({ effort }, pairCount) => effort * secondsPerPair * (pairCount + 1),
  async measure({ ordinary, scale, progress, pairCount }) {
    const pairs = await measurePairs(pairCount, async (pair) => {
      progress.begin(`write: pair ${pair} of ${pairCount}`, scale.effort * secondsPerPair);
      const guarded = await planNight(ordinary, scale);
      const ours = await applyBatches(ordinary, await batchesOf(ordinary, guarded));
      await finishNight(ordinary, guarded);

      const whole = await planNight(ordinary, scale);
      const startMs = performance.now();
      const written = await setBasedWrite(ordinary, whole);
      const theirs = (written * 1_000) / (performance.now() - startMs);
      invariant(written === whole.itemCount, `night of ${whole.itemCount}: ${written} were applied`);
      await finishNight(ordinary, whole);
      return { ours, theirs };
    });
    return [
      {
        name: "write",
        what: "guarded statement in batches of 200 ÷ one set-based statement",
        unit: "items/s",
        valueUnit: "",
        bound: { atLeast: 0.4 },
        pairs,
      },
    ];
  },
};
