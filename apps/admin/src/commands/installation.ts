import { parseReason } from "../arguments/reason.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

const takeOver: CommandDefinition = {
  name: "take-over",
  summary: "take a prefix over from an installation that is gone for good",
  description: `Makes QUEUE_PREFIX this installation's wherever another one has claimed it: in the queue's store and in the store of leases.
For when the other one is gone for good, as after a dump was restored in its place. Processes of it that still run end
within seconds. Who had the prefix and when it was last seen is said, and written down with the reason.`,
  group: group.setUp,
  examples: [
    'installation take-over --reason "restored from the dump of Sunday"',
    'installation take-over --reason "a look" --dry-run',
  ],
  define(command, perform) {
    command
      .requiredOption("--reason <text>", "why, for the audit log", parseReason)
      .option("--dry-run", "say from whom, change nothing", false)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/take-over-prefix.ts")).takeOverPrefix(terminal, options)),
      );
  },
};

const fork: CommandDefinition = {
  name: "fork",
  summary: "make a physical copy of a database an installation of its own",
  description: `Gives the database in DATABASE_URL another id. A physical copy (a base backup, a snapshot of the disk) calls itself what its
original does, as a promoted standby should. One that is to live beside its original must not: fork it before anything else
runs on it, and give it a QUEUE_PREFIX of its own. Dumps that are restored need none of this.`,
  group: group.setUp,
  examples: ['installation fork --reason "a copy for load tests"', 'installation fork --reason "a look" --dry-run'],
  define(command, perform) {
    command
      .requiredOption("--reason <text>", "why, for the audit log", parseReason)
      .option("--dry-run", "say what it is now, change nothing", false)
      .action((options) =>
        perform(async (terminal) =>
          (await import("../verbs/fork-installation.ts")).forkThisInstallation(terminal, options),
        ),
      );
  },
};

export const installation: CommandDefinition = {
  name: "installation",
  summary: "which installation this is, and whose the prefix is in each store",
  description: `Says which installation the database in DATABASE_URL is, and which one has claimed QUEUE_PREFIX in the queue's store and in the
store of leases. Changes nothing.`,
  group: group.setUp,
  examples: ["installation", "installation --json", ...takeOver.examples.slice(0, 1), ...fork.examples.slice(0, 1)],
  notInOrder: "another installation has claimed the prefix",
  subverbs: [takeOver, fork],
  define(command, perform) {
    command.action(() =>
      perform(async (terminal) => (await import("../verbs/installation.ts")).showInstallation(terminal)),
    );
  },
};
