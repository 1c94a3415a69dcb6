import { parseReason } from "../arguments/reason.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const acknowledge: CommandDefinition = {
  name: "acknowledge",
  summary: "findings of verify that somebody looked into: they are told apart from then on",
  description: `Marks findings of verify, by the ids that it prints, as looked into. An acknowledgement is bound to what the finding says: once any
number of it changes, it is a violation again. The findings are looked for by verifying anew, which takes as long as verify does. Who
did it and why is kept in the audit log; --withdraw takes acknowledgements back.`,
  group: group.nights,
  examples: [
    'acknowledge 3f9a1c5e7b2d4068 --reason "till corrected by hand, ticket 4711"',
    'acknowledge 3f9a1c5e7b2d4068 --withdraw --reason "was another till"',
  ],
  define(command, perform) {
    command
      .argument("<finding...>", "ids that verify printed")
      .requiredOption("--reason <text>", "why, for the audit log", parseReason)
      .option("--withdraw", "take acknowledgements back: the findings are violations again", false)
      .option("--job <name>", "the job", "restaurant-totals")
      .action((findings, options) =>
        perform(async (terminal) =>
          (await import("../verbs/acknowledge.ts")).acknowledge(terminal, { findings, ...options }),
        ),
      );
  },
};
