import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const dev: CommandDefinition = {
  name: "dev",
  summary: "the whole stack until Ctrl-C, on a data folder that stays; dashboard included",
  description: `Starts PostgreSQL on a data folder, brings it up to date, and runs a scheduler, workers and the dashboard until
Ctrl-C. It writes a file to source, so that every other verb works on it from a second shell.`,
  group: group.tryIt,
  examples: ["dev", "dev --workers 2 --redis", "dev --data /var/lib/nightwriter"],
  define(command, perform) {
    command
      .option("--data <folder>", "where the data stay (default: .nightwriter/dev in the checkout)")
      .option("--workers <count>", "how many workers", wholeNumber(1, 8), 1)
      .option("--redis", "keep the queue in a Redis of its own (needs redis-server) instead of PostgreSQL", false)
      .action((options) => perform(async (terminal) => (await import("../verbs/dev.ts")).runDev(terminal, options)));
  },
};
