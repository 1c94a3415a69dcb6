import { parseReason } from "../arguments/reason.ts";
import { serialNumber } from "../arguments/serial-number.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition, CommandGroup } from "../command.ts";
import { group } from "./groups.ts";

const list: CommandDefinition = {
  name: "list",
  summary: "what was imported, by whom, when, and what came of it",
  description: "Lists imports and undos, the newest first, each with its number.",
  group: group.setUp,
  examples: ["imports list", "imports list --restaurant soho --limit 100 --json"],
  define(command, perform) {
    command
      .option("--restaurant <id>", "imports for this restaurant only, and those of files that name their restaurants")
      .option("--limit <count>", "how many are listed", wholeNumber(1, 1_000_000), 20)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/imports-list.ts")).listOfImports(terminal, options)),
      );
  },
};

const show: CommandDefinition = {
  name: "show",
  summary: "all that is kept about one import",
  description:
    "Shows an import or an undo: its options, lines, sums and dates, what it built on, and what was built on it.",
  group: group.setUp,
  examples: ["imports show 7", "imports show 7 --json"],
  define(command, perform) {
    command
      .argument("<number>", "the import's, as imports list says it", serialNumber)
      .action((id) =>
        perform(async (terminal) => (await import("../verbs/imports-show.ts")).showOfImport(terminal, id)),
      );
  },
};

const undo: CommandDefinition = {
  name: "undo",
  summary: "take back what an import has recorded",
  description: `Reverses each row of an import by a further one; the next night adds the signed differences. An import on which a later one has
built is undone after that one. An undo has a number of its own, and is undone in the same way. Twice changes nothing.`,
  group: group.setUp,
  examples: ['imports undo 7 --reason "read with the wrong column"', "imports undo 7 --dry-run"],
  define(command, perform) {
    command
      .argument("<number>", "the import's, as imports list says it", serialNumber)
      .option("--reason <text>", "why, for the audit log; needed unless --dry-run", parseReason)
      .option("--dry-run", "say what would be taken back, and change nothing", false)
      .action((id, options) =>
        perform(async (terminal) =>
          (await import("../verbs/imports-undo.ts")).undoOfImport(terminal, { id, ...options }),
        ),
      );
  },
};

export const imports: CommandGroup = {
  name: "imports",
  summary: "list, show, undo: what was imported, and the way back",
  description: "What was imported from files, by whom, and what came of it; and the way back.",
  group: group.setUp,
  examples: [...list.examples.slice(1), ...show.examples.slice(0, 1), ...undo.examples.slice(0, 1)],
  subverbs: [list, show, undo],
};
