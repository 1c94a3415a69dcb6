import { Option } from "@commander-js/extra-typings";
import { parseBusinessDate } from "../arguments/business-date.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

const encoding = new Option("--encoding <name>", "how it is encoded")
  .choices(["utf-8", "latin-1"] as const)
  .default("utf-8" as const);

export const open: CommandDefinition = {
  name: "open",
  summary: "opening totals from a CSV file, as first entries; twice changes nothing",
  description: `Records what each restaurant's total starts with, one per line, and enqueues these as first entries, in a run of its
own. All lines or none: a restaurant that has a total already refuses the file. The same file twice changes nothing.`,
  group: group.setUp,
  examples: [
    "open opening-totals.csv --zone Europe/London --currency GBP --wait",
    "open opening-totals.csv --restaurant-column Outlet --total-column Balance --date 2018-12-31",
  ],
  notInOrder: "items of the run are parked",
  define(command, perform) {
    command
      .argument("<file>", "the CSV file; .gz is decompressed")
      .option("--wait", "wait until the totals are there, with progress", false)
      .option("--job <name>", "the job", "restaurant-totals")
      .optionsGroup("The file:")
      .option("--restaurant-column <name>", "the column with the restaurant's id", "restaurant")
      .option("--total-column <name>", "the column with what its total starts with", "total")
      .option("--date-column <name>", 'the column with the business date (default: "date", if there is one)')
      .option("--date-format <tokens>", "how it is written, in Unicode date tokens", "yyyy-MM-dd")
      .option(
        "--delimiter <character>",
        'what separates fields; \\t for a tab (default: what a first line "sep=;" says, or a comma)',
      )
      .option("--decimal-comma", "numbers are written 1.234,50", false)
      .addOption(encoding)
      .optionsGroup("Restaurants:")
      .option("--date <date>", "for lines without one (default: the day before the first sale)", parseBusinessDate)
      .option("--no-create", "refuse restaurants that are not known, instead of recording them")
      .option("--zone <zone>", "IANA time zone: of new restaurants, and what known ones must have")
      .option("--cutoff <HH:MM>", "sales before this time belong to the date before (new restaurants: 00:00)")
      .option("--currency <code>", "ISO 4217 code: of new restaurants, and what known ones must have")
      .action((file, options) =>
        perform(async (terminal) => (await import("../verbs/open.ts")).openFile(terminal, { file, ...options })),
      );
  },
};
