import { parseBusinessDate } from "../arguments/business-date.ts";
import { parseReason } from "../arguments/reason.ts";
import type { CommandDefinition, CommandGroup } from "../command.ts";
import { group } from "./groups.ts";

const list: CommandDefinition = {
  name: "list",
  summary: "the restaurants: zone, cutoff, currency, and since when",
  description: `Lists the restaurants with what their dates and amounts mean: the zone and cutoff that tell business dates, from which date on
if they were changed, the currency, and whether they are closed.`,
  group: group.setUp,
  examples: ["restaurants list", "restaurants list --json"],
  define(command, perform) {
    command.action(() =>
      perform(async (terminal) => (await import("../verbs/restaurants-list.ts")).listOfRestaurants(terminal)),
    );
  },
};

const set: CommandDefinition = {
  name: "set",
  summary: "another name, zone, cutoff or currency",
  description: `Changes what is known of a restaurant. What is recorded keeps its meaning: with sales, a zone or a cutoff holds --from a business
date that has none yet, and the currency stays. A change waits for an import that is at work.`,
  group: group.setUp,
  examples: [
    'restaurants set soho --cutoff 05:00 --from 2026-12-01 --reason "open until five"',
    'restaurants set soho --currency EUR --reason "typed wrongly, nothing sold yet"',
  ],
  define(command, perform) {
    command
      .argument("<restaurant>", "its id")
      .option("--zone <zone>", "IANA time zone")
      .option("--cutoff <HH:MM>", "sales before this time belong to the date before")
      .option("--from <date>", "the first business date that zone and cutoff tell", parseBusinessDate)
      .option("--currency <code>", "ISO 4217 code; only while nothing is recorded")
      .option("--name <text>", "what people call it")
      .requiredOption("--reason <text>", "why, for the audit log", parseReason)
      .action((restaurant, options) =>
        perform(async (terminal) =>
          (await import("../verbs/change-restaurant.ts")).setRestaurant(terminal, { restaurant, ...options }),
        ),
      );
  },
};

const close: CommandDefinition = {
  name: "close",
  summary: "refuse its sales since a date, plan its nights no longer",
  description: `Closes a restaurant: sales of that business date and later are refused, and its nights are planned no longer, but for sales of
before that come late.`,
  group: group.setUp,
  examples: ['restaurants close soho --since 2026-11-01 --reason "lease ended"'],
  define(command, perform) {
    command
      .argument("<restaurant>", "its id")
      .requiredOption("--since <date>", "the first business date without sales", parseBusinessDate)
      .requiredOption("--reason <text>", "why, for the audit log", parseReason)
      .action((restaurant, options) =>
        perform(async (terminal) =>
          (await import("../verbs/change-restaurant.ts")).closeRestaurant(terminal, { restaurant, ...options }),
        ),
      );
  },
};

const reopen: CommandDefinition = {
  name: "reopen",
  summary: "take a closing back",
  description: "Takes a closing back: its sales are recorded again, its nights planned.",
  group: group.setUp,
  examples: ['restaurants reopen soho --reason "closed by mistake"'],
  define(command, perform) {
    command
      .argument("<restaurant>", "its id")
      .requiredOption("--reason <text>", "why, for the audit log", parseReason)
      .action((restaurant, options) =>
        perform(async (terminal) =>
          (await import("../verbs/change-restaurant.ts")).reopenRestaurant(terminal, { restaurant, ...options }),
        ),
      );
  },
};

export const restaurants: CommandGroup = {
  name: "restaurants",
  summary: "list, set, close, reopen: zone, cutoff and currency, from a date on",
  description: "What the dates and amounts of a restaurant mean. Restaurants are made by import and open.",
  group: group.setUp,
  examples: [...list.examples.slice(1), ...set.examples.slice(0, 1), ...close.examples],
  subverbs: [list, set, close, reopen],
};
