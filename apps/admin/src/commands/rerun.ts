import { parseBusinessDate } from "../arguments/business-date.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const rerun: CommandDefinition = {
  name: "rerun",
  summary: "plan a night's items again in a new run: adds only what is missing",
  description: `Plans the night's items again, in a new run. What was added before is not added twice: each item adds the difference
between the sales of its date and what its entries add up to.`,
  group: group.nights,
  examples: ["rerun --date 2026-03-28 --wait", "rerun --date 2026-03-28 --request-id after-the-late-sales"],
  notInOrder: "items of the run are parked, or some that were asked for were left out",
  define(command, perform) {
    command
      .requiredOption("--date <date>", "the business date, YYYY-MM-DD", parseBusinessDate)
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--wait", "wait until nothing of it is due any more, with progress", false)
      .option("--request-id <id>", "names the run: the same id is the same run (default: a new id)")
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/rerun.ts")).rerunNight(terminal, options)),
      );
  },
};
