import { parseBusinessDate } from "../arguments/business-date.ts";
import { collect } from "../arguments/collect.ts";
import { parseReason } from "../arguments/reason.ts";
import { collectSqlstates } from "../arguments/sqlstate.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition, CommandGroup } from "../command.ts";
import { group } from "./groups.ts";

const list: CommandDefinition = {
  name: "list",
  summary: "what is parked or cancelled, why, and since when",
  description: `Lists the items that are out of their night until somebody does something about them: parked by their own error, or
cancelled by name. Without an option it lists all of the job.`,
  group: group.nights,
  examples: ["items list", "items list --date 2026-03-28 --sqlstate 22003", "items list --key kensington --json"],
  notInOrder: "items are parked or cancelled",
  define(command, perform) {
    command
      .option("--key <key...>", "items of these keys only", collect)
      .option("--date <date>", "items of this business date only", parseBusinessDate)
      .option("--sqlstate <code...>", "items that this error has parked", collectSqlstates)
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--limit <count>", "how many are listed; all are counted", wholeNumber(1, 1_000_000), 100)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/items-list.ts")).listItems(terminal, options)),
      );
  },
};

const retry: CommandDefinition = {
  name: "retry",
  summary: "the way back: parked items become due again",
  description: `Makes parked items due again and puts them into the queue, once what parked them is mended. One whose data are as bad as before
is parked again. An item stays parked if another item of its key and date is due, if its date is closed or its run was cancelled, and is
named with the reason; the others are retried all the same. An item that was cancelled by name comes back by its key only.`,
  group: group.nights,
  examples: [
    `items retry --sqlstate 22003 --reason "amounts corrected, ticket 4711"`,
    `items retry --key kensington --date 2026-03-28 --reason "the till was mended"`,
    "items retry --all --dry-run",
  ],
  notInOrder: "some of the items stay as they were",
  define(command, perform) {
    command
      .option("--key <key...>", "items of these keys", collect)
      .option("--date <date>", "items of this business date", parseBusinessDate)
      .option("--sqlstate <code...>", "items that this error has parked", collectSqlstates)
      .option("--all", "every parked item of the job", false)
      .option("--reason <text>", "why, for the audit log; needed for whatever changes something", parseReason)
      .option("--dry-run", "say what would be retried, change nothing", false)
      .option("--job <name>", "the job", "restaurant-totals")
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/items-retry.ts")).retryWithdrawn(terminal, options)),
      );
  },
};

export const items: CommandGroup = {
  name: "items",
  summary: "list: what is parked, and why; retry: its way back",
  description: "Items that are out of their night until somebody does something about them.",
  group: group.nights,
  examples: [...list.examples, ...retry.examples.slice(0, 1)],
  subverbs: [list, retry],
};
