import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const demo: CommandDefinition = {
  name: "demo",
  summary: "a whole night on a database of its own, a worker killed half-way, and the proof",
  description: `Starts PostgreSQL in a temporary folder, records a night of sales of sample restaurants, runs the night with a
scheduler and several workers as processes of their own, kills one of the workers half-way, records late sales
meanwhile, runs the night again, and proves that every total is exact. Ends by itself and leaves nothing behind.`,
  group: group.tryIt,
  examples: ["demo", "demo --restaurants 5000 --workers 3", "demo --redis"],
  notInOrder: "a total or a proof was wrong",
  define(command, perform) {
    command
      .option("--restaurants <count>", "how many restaurants", wholeNumber(10, 100_000), 1_000)
      .option("--workers <count>", "how many workers; one of them is killed", wholeNumber(2, 8), 2)
      .option("--redis", "keep the queue in a Redis of its own (needs redis-server) instead of PostgreSQL", false)
      .action((options) => perform(async (terminal) => (await import("../verbs/demo.ts")).runDemo(terminal, options)));
  },
};
