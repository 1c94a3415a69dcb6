import { parseDuration } from "../arguments/duration.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const migrate: CommandDefinition = {
  name: "migrate",
  summary: "bring a database up to date (--dry-run prints the SQL)",
  description: `Brings the schema of the database in DATABASE_URL up to this build, in one transaction, and starts a new epoch if the
data came from another cluster. Calls that come at the same time wait for each other. It says first what it locks; locks
that are not to be had within half a second are given up, and tried again, so that nobody waits behind them.
With --roles it also makes the roles nightwriter_migrator, _scheduler, _worker, _operator and _auditor, groups without a login or a
password, and gives each what it needs and no more: make logins and grant them. Run it after each migration; it needs the right to
make roles.`,
  group: group.setUp,
  examples: ["migrate", "migrate --dry-run", "migrate --roles", "migrate --roles --dry-run"],
  define(command, perform) {
    command
      .option("--dry-run", "print the SQL that would be run, change nothing", false)
      .option("--patience <duration>", "how long to try for the locks (default: 5m)", parseDuration)
      .option("--roles", "make the roles as well, and grant each what it needs", false)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/migrate.ts")).migrate(terminal, options)),
      );
  },
};
