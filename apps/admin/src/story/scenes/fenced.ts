import { countEntries } from "../restaurant.ts";
import { rupees } from "../rupees.ts";
import { type Scene, verdict } from "../scene.ts";
import { applies, checks, endsExact, freezes, leaseEnds, notesWrite, reads, refusal, takes } from "../steps.ts";

/** The same night with the shipped statement, which asks for the token. */
export const fenced: Scene = {
  letter: "b",
  title: "the same with a fence",
  lesson: "A's write is refused, and A is told: it takes a new token, and what it adds is added to what is there.",
  configuredLeases: true,
  needs: ["redis"],
  async play(stage) {
    const { clock, a, b, database, job } = stage;
    const url = await stage.leaseUrl();
    await Promise.all([a, b].map((writer) => stage.openLeases(writer, url)));
    stage.begin();
    const first = await takes(stage, { second: 0, writer: a });
    await reads(stage, { second: 5, writer: a, add: 2_000n });
    await checks(stage, { second: 8, writer: a });
    await freezes(stage, { second: 10, writer: a }, 45);
    const late = a.apply(stage.two);
    await leaseEnds(stage, 30, b);
    const second = await takes(stage, { second: 31, writer: b });
    await reads(stage, { second: 31, writer: b, add: 3_000n });
    await applies(stage, { second: 33, writer: b, item: stage.three });
    await b.ask("release", {});
    await stage.note({ second: 34, who: "B", what: "gives the lease back" });
    await clock.until(55);
    a.thaw();
    const refused = await late.result;
    await notesWrite(stage, { second: 55, writer: a, item: stage.two, result: refused, how: "wakes, " });
    const entriesThen = await countEntries(database, job);
    const third = await takes(stage, { second: 56, writer: a }, "takes the lease anew");
    const again = await reads(stage, { second: 56, writer: a, add: 2_000n });
    await applies(stage, { second: 57, writer: a, item: stage.two });
    return [
      verdict("tokens of A and B, and A's next", "33, 34, 35", [first, second, third].join(", ")),
      verdict("A's late write", "33 < 34, 0 rows", refusal(refused)),
      verdict("entries besides the opening then", "1", String(entriesThen)),
      verdict(
        "A reads, means",
        "43,000, 45,000",
        [again.totalMinor, again.meansMinor].map((minor) => rupees(BigInt(minor))).join(", "),
      ),
      ...(await endsExact(stage)),
    ];
  },
};
