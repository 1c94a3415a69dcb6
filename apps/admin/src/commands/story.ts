import { parseScenes, parseSpeed } from "../arguments/scenes.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const story: CommandDefinition = {
  name: "story",
  summary: "why a lock is not enough: seven scenes with real processes, really frozen",
  description: `Plays how a lease fails (a frozen holder, a failover, a late write, a clock that jumps, five servers that vote) with
processes of their own, on databases of their own (on the server in DATABASE_URL, or in a PostgreSQL that it starts) and
lock servers of their own; LEASE_URL carries scenes a, b and e. A lease of 30 s and what happens under it are played
faster. Prints who did what when, and what was predicted beside what came out.`,
  group: group.tryIt,
  examples: ["story", "story --scene a,b", "story --speed 5 --json"],
  notInOrder: "a number is not the one that was predicted",
  define(command, perform) {
    command
      .option(
        "--speed <factor>",
        "how many times faster; a scene that a busy machine spoils is played again, slower",
        parseSpeed,
        60,
      )
      .option("--scene <letters>", "some scenes only, such as a,b (default: all, a to g)", parseScenes)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/story.ts")).playLesson(terminal, options)),
      );
  },
};
