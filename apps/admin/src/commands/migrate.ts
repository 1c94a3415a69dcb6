import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const migrate: CommandDefinition = {
  name: "migrate",
  summary: "bring a database up to date (--dry-run prints the SQL)",
  description: `Brings the schema of the database in DATABASE_URL up to this build, in one transaction, and starts a new epoch if the
data came from another cluster. Calls that come at the same time wait for each other.`,
  group: group.setUp,
  examples: ["migrate", "migrate --dry-run"],
  define(command, perform) {
    command
      .option("--dry-run", "print the SQL that would be run, change nothing", false)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/migrate.ts")).migrate(terminal, options)),
      );
  },
};
