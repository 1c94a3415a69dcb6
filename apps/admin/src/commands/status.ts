import { parseBusinessDate } from "../arguments/business-date.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const status: CommandDefinition = {
  name: "status",
  summary: "how the nights go: runs with their counts, parked items with their errors",
  description:
    "Lists runs, newest first, with what is due, applied, parked and cancelled, and every parked item with its error.",
  group: group.nights,
  examples: ["status", "status --date 2026-03-28", "status --date 2026-03-28 --watch"],
  notInOrder: "items are parked",
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
