import { parseBusinessDate } from "../arguments/business-date.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const verify: CommandDefinition = {
  name: "verify",
  summary: "prove that totals equal their sources; names every violation",
  description: `Proves, rule by rule and in SQL, that the ledger is whole and that totals equal their sources. A difference is excused
only by something that is still to be done (a due, parked, cancelled or not yet planned item): it is listed as
outstanding, with its age and amount, and is no violation.`,
  group: group.nights,
  examples: [
    "verify",
    "verify --from 2026-03-01 --to 2026-03-31",
    "verify --pairs differing.jsonl",
    "verify --explain",
  ],
  notInOrder: "a rule is violated, or could not be asked since another source query than this checkout's is in force",
  define(command, perform) {
    command
      .option("--from <date>", "business dates from this one", parseBusinessDate)
      .option("--to <date>", "business dates to this one", parseBusinessDate)
      .option(
        "--pairs <file>",
        "write every pair whose entries differ from its source, one JSON object a line, to a new file",
      )
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--explain", "say what each rule proves, and what no rule can see; asks no database", false)
      .action(({ explain, ...options }) =>
        perform(async (terminal) =>
          explain
            ? (await import("../verbs/explain-rules.ts")).explainVerification()
            : (await import("../verbs/verify.ts")).verifyLedger(terminal, options),
        ),
      );
  },
};
