import { parseBusinessDate } from "../arguments/business-date.ts";
import { collect } from "../arguments/collect.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const run: CommandDefinition = {
  name: "run",
  summary: "run a night, or several: plan it, enqueue what is due, --wait until it is done",
  description: `Finds or makes the night's run, plans whatever is missing, and enqueues what is due. The same command twice is one
run. With --restaurant it makes a run of its own for these restaurants, which never stands in for the night.`,
  group: group.nights,
  examples: [
    "run --date 2026-03-28 --wait",
    "run --from 2019-01-01 --to 2019-08-03 --wait",
    "run --date 2026-03-28 --restaurant kensington --restaurant soho --request-id fix-17",
  ],
  notInOrder: "items of the run are parked, or some of the named restaurants were left out",
  define(command, perform) {
    command
      .option("--date <date>", "the business date, YYYY-MM-DD", parseBusinessDate)
      .option("--from <date>", "run every night from this date", parseBusinessDate)
      .option("--to <date>", "to this date, in order", parseBusinessDate)
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--wait", "wait until nothing of it is due any more, with progress", false)
      .option("--restaurant <id...>", "these restaurants only, as a run of its own", collect)
      .option("--request-id <id>", "names such a run: the same id is the same run (default: a new id)")
      .action((options) => perform(async (terminal) => (await import("../verbs/run.ts")).runNights(terminal, options)));
  },
};
