/**
 * The frozen worker of a build that does not check the token, so often that what was seen twice in six times is seen.
 *
 * Such a worker may say "fenced" of a partition that its statement was not about. It was opening another connection when it
 * froze; when it wakes, the time for that is over, and a write that was never sent is looked up like one whose answer was lost:
 * it has no entry and its term has ended. No write that was answered may be called fenced.
 */
import type { Mutation } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { expectNightInOrder } from "./fleet.ts";
import { freezing, planted, withoutTokenCheck } from "./planted.ts";
import { stopVictim } from "./trouble.ts";

const runCount = 30;
const short = { leaseMs: 3_000, restaurants: 600, entryMs: 40 };
const unansweredMessage = "write without an answer";

const tellingUnanswered: readonly Mutation[] = [
  {
    file: "packages/ledger/src/send-write.ts",
    replace: "return { applied: new Map(), fault: sqlFault(error) };",
    by: `const line = { level: 40, msg: ${JSON.stringify(unansweredMessage)}, partition: context.term.partition };
      process.stdout.write(JSON.stringify(line) + "\\n");
      return { applied: new Map(), fault: sqlFault(error) };`,
  },
];

describe("one of three workers, frozen, in a build that does not check the token", { timeout: 180_000 }, () => {
  it.each(Array.from({ length: runCount }, (_, index) => index + 1))(
    `is told of its term by no write that was answered: %i of ${runCount}`,
    async () => {
      const build = planted(freezing, withoutTokenCheck, tellingUnanswered);
      await stopVictim({ ...short, frozen: true, build }, async ({ fleet, victim }, { fenced, partition }) => {
        const unanswered = new Set(victim.said(unansweredMessage).map((line) => Number(line["partition"])));
        expect(fenced).not.toContain(partition);
        expect(fenced.filter((each) => !unanswered.has(each))).toEqual([]);
        await expectNightInOrder(fleet, ["within-term", "total-row"]);
      });
    },
  );
});
