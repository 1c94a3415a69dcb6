import { parseReason } from "../arguments/reason.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

const deploy: CommandDefinition = {
  name: "deploy",
  summary: "this checkout's source query in force, also one that was replaced",
  description: `Makes this checkout's source query the one in force. Workers and schedulers bring in a newer query by themselves when they
start; what was replaced comes back only this way, and under a new stored number, so that each entry says which of both summed it.
Processes of the other build end at their next batch or plan. The change is kept in the audit log with its reason.`,
  group: group.setUp,
  examples: ['jobs deploy --reason "fees were counted twice"', 'jobs deploy --dry-run --reason "rollback"'],
  define(command, perform) {
    command
      .requiredOption("--reason <text>", "why, for the audit log", parseReason)
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--dry-run", "say what would be changed, change nothing", false)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/deploy-job.ts")).deployQuery(terminal, options)),
      );
  },
};

export const jobs: CommandDefinition = {
  name: "jobs",
  summary: "the jobs, and whether this checkout's source query is the one in force",
  description: `Lists the jobs of this checkout: their partitions, through which date they are closed, and the version of the source query
that is in force beside this checkout's own. A query is in force by its number and by a hash of what it says.`,
  group: group.setUp,
  examples: ["jobs", "jobs --json", ...deploy.examples.slice(0, 1)],
  notInOrder: "another source query than this checkout's is in force",
  subverbs: [deploy],
  define(command, perform) {
    command.action(() => perform(async (terminal) => (await import("../verbs/jobs.ts")).listJobs(terminal)));
  },
};
