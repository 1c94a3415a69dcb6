/** The proof of everything, and one aggregate that only reads the same rows. */
import { invariant, systemClock } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import { verify } from "@nightwriter/ledger";
import { measurePairs } from "../figure.ts";
import { withSetting } from "../setting.ts";
import { stageSeconds } from "../stage.ts";
import type { Row } from "./row.ts";

const secondsPerPair = 15;

export const verifyRow: Row = {
  name: "verify",
  seconds: (scale, pairCount) => stageSeconds(scale).verified + scale.effort * secondsPerPair * (pairCount + 1),
  async measure(stage) {
    const { scale, progress, pairCount } = stage;
    const entryCount = scale.keyCount * scale.verifiedDays;
    const { database, job } = await stage.verified();
    const pairs = await measurePairs(pairCount, async (pair) => {
      progress.begin(`verify: pair ${pair} of ${pairCount}`, scale.effort * secondsPerPair);
      const report = await verify(database, job, { now: systemClock.now() });
      invariant(report.clean && report.entryCount === entryCount, "what is verified is clean, and whole");
      return { ours: report.durationMs, theirs: await aggregateMs(database) };
    });
    return [
      {
        name: "verify",
        what: `verify of ${entryCount.toLocaleString("en")} entries ÷ one sequential aggregate over the same rows (time)`,
        unit: "ms",
        valueUnit: "",
        bound: { atMost: 10 },
        pairs,
      },
    ];
  },
};

/** Entries and their sales, read once from end to end, one after another: by one process. */
async function aggregateMs(database: Database): Promise<number> {
  return withSetting(database, "max_parallel_workers_per_gather = 0", async (session) => {
    const startMs = performance.now();
    await session.query(
      `select sum(amount) from (
        select delta_minor as amount from nightwriter.ledger_entry
        union all
        select amount_minor from sales.sale
      ) as amounts`,
    );
    return performance.now() - startMs;
  });
}
