import { parseBusinessDate } from "../arguments/business-date.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const status: CommandDefinition = {
  name: "status",
  summary: "how the nights go: runs with their counts, parked items with their errors",
  description: `Lists runs, newest first, with what is due, applied, parked and cancelled, and every parked item with its error.
Without --date it says first what is not as it should be, of whatever age and by the database's clock, each with the command
that mends it: nights that are missing, that were planned before their date was over, runs that are overdue, parked items,
queues paused by hand, schedulers and workers that are not there, clocks that are off. A run is overdue if items of it are due
and none was applied for 15 minutes, or if it was planned an hour ago or more, a night has fallen due since, and it is not done.`,
  group: group.nights,
  examples: ["status", "status --date 2026-03-28", "status --date 2026-03-28 --watch"],
  notInOrder: "a night is missing, a run is overdue, items are parked, nobody leads, a queue is paused",
  define(command, perform) {
    command
      .option("--date <date>", "runs of this business date only", parseBusinessDate)
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--limit <count>", "how many runs", wholeNumber(1, 10_000), 20)
      .option("--watch", "refresh until nothing is due any more", false)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/status.ts")).showStatus(terminal, options)),
      );
  },
};
