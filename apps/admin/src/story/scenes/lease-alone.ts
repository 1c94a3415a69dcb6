import { readTotal, readTruth } from "../restaurant.ts";
import { rupees } from "../rupees.ts";
import { type Scene, verdict } from "../scene.ts";
import { checks, freezes, leaseEnds, reads, takes, verification } from "../steps.ts";

/** A lease, a check of the lease, and a write that asks nobody. */
export const leaseAlone: Scene = {
  letter: "a",
  title: "lease alone, a write that is not guarded",
  lesson: "A holder that was frozen still believes its check of before: 3,000 are lost, and nobody hears of it.",
  configuredLeases: true,
  needs: ["redis"],
  async play(stage) {
    const { clock, a, b, database, job } = stage;
    const url = await stage.leaseUrl();
    await Promise.all([a, b].map((writer) => stage.openLeases(writer, url)));
    stage.begin();
    const tokenOfA = await takes(stage, { second: 0, writer: a });
    const first = await reads(stage, { second: 5, writer: a, add: 2_000n });
    const left = await checks(stage, { second: 8, writer: a });
    await freezes(stage, { second: 10, writer: a }, 45);
    const late = a.ask("overwrite", {});
    await leaseEnds(stage, 30, b);
    const tokenOfB = await takes(stage, { second: 31, writer: b });
    const second = await reads(stage, { second: 31, writer: b, add: 3_000n });
    await clock.until(33);
    const ofB = await b.ask("overwrite", {});
    await stage.note({ second: 33, who: "B", what: `writes ${rupees(BigInt(ofB.wroteMinor))}`, token: tokenOfB });
    await clock.until(55);
    a.thaw();
    const ofA = await late;
    await stage.note({
      second: 55,
      who: "A",
      what: `wakes, writes ${rupees(BigInt(ofA.wroteMinor))}`,
      token: tokenOfA,
    });
    const [total, truth] = [await readTotal(database, job), await readTruth(database, job)];
    return [
      verdict("tokens of A and B", "33, 34", `${tokenOfA}, ${tokenOfB}`),
      verdict(
        "A and B read",
        "40,000, 40,000",
        [first, second].map((each) => rupees(BigInt(each.totalMinor))).join(", "),
      ),
      verdict("A's lease when it checks", "22 s left", left),
      verdict("final total", "42,000", rupees(total)),
      verdict("true total", "45,000", rupees(truth)),
      verdict("lost", "3,000", rupees(truth - total)),
      // A writer that meets an error ends the scene; so what is counted is that both were told of success.
      verdict("what A and B were told", "1 row, 1 row", `${ofA.rows} row, ${ofB.rows} row`),
      verdict("verify, the only one to notice", "violated: total-row", await verification(stage)),
    ];
  },
};
