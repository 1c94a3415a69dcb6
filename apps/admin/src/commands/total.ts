import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const total: CommandDefinition = {
  name: "total",
  summary: "a restaurant's total, and with --history every entry that it was made of",
  description: "Prints a restaurant's total and version, and with --history its ledger entries, newest first.",
  group: group.nights,
  examples: ["total kensington", "total kensington --history", "total kensington --history --limit 500"],
  define(command, perform) {
    command
      .argument("<restaurant>", "its id")
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--history", "print the entries that the total was made of", false)
      .option("--limit <count>", "how many entries", wholeNumber(1, 100_000), 50)
      .action((restaurant, options) =>
        perform(async (terminal) =>
          (await import("../verbs/total.ts")).showTotal(terminal, { restaurant, ...options }),
        ),
      );
  },
};
