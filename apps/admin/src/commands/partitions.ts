import { parseReason } from "../arguments/reason.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

const resize: CommandDefinition = {
  name: "resize",
  summary: "another number of partitions, between nights",
  description: `Gives the job another number of partitions. Keys move between partitions, so this is refused while any item is due;
planners wait meanwhile. Whoever still works by the old number is shut out by new fencing tokens, and workers take up the new
partitions by themselves. A larger number spreads work over more workers; it need not fit their count.`,
  group: group.nights,
  examples: ["partitions resize --count 32", "partitions resize --job restaurant-totals --count 32 --json"],
  define(command, perform) {
    command
      .requiredOption("--count <number>", "how many partitions there are to be", wholeNumber(1, 1_024))
      .option("--job <name>", "the job", "restaurant-totals")
      .action((options) =>
        perform(async (terminal) =>
          (await import("../verbs/resize-partitions.ts")).resizeJobPartitions(terminal, options),
        ),
      );
  },
};

const resume: CommandDefinition = {
  name: "resume",
  summary: "let workers take from queues that somebody has paused by hand",
  description: `Resumes every queue of the job that is paused. Nightwriter never pauses one; a person may have, by a tool of the queue's.`,
  group: group.nights,
  examples: ["partitions resume", 'partitions resume --reason "the till is mended" --json'],
  define(command, perform) {
    command
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--reason <text>", "why, for the audit log", parseReason)
      .action((options) =>
        perform(async (terminal) =>
          (await import("../verbs/resume-partitions.ts")).resumePartitions(terminal, options),
        ),
      );
  },
};

export const partitions: CommandDefinition = {
  name: "partitions",
  summary: "who consumes which partition, under which lease and token, and what waits there",
  description: `Lists the partitions of a job: who holds each, on which host and as which process, under which fencing token and since
when, how long the lease would last, what is due, what waits in the queue and what is in hand, and when an entry was last written.`,
  group: group.nights,
  examples: ["partitions", "partitions --watch", "partitions --json", ...resize.examples.slice(0, 1)],
  notInOrder:
    "work waits in a partition that no live worker holds, items are due and not in the queue, or the queue is of no use",
  subverbs: [resize, resume],
  define(command, perform) {
    command
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--watch", "refresh until Ctrl-C", false)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/partitions.ts")).showPartitions(terminal, options)),
      );
  },
};
