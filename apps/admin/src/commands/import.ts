import { Option } from "@commander-js/extra-typings";
import { type Acceptance, acceptances } from "@nightwriter/sales/acceptances";
import { parseBusinessDate } from "../arguments/business-date.ts";
import { collect } from "../arguments/collect.ts";
import { columnValue } from "../arguments/column-value.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

const encoding = new Option("--encoding <name>", "how it is written")
  .choices(["utf-8", "latin-1", "windows-1252"] as const)
  .default("utf-8" as const);

const optionsFile = new Option(
  "--options <file>",
  'JSON with options by name, {"currency": "GBP", "only": ["Status=Paid"]}; those given here override',
);
const savedOptions = new Option(
  "--save-options <file>",
  "write the options that say how the file is read to this file, once it was imported",
);

export const importCommand: CommandDefinition = {
  name: "import",
  summary: "record sales from CSV files; the same file twice changes nothing",
  description: `Records the sales of CSV files, one per line. A file is known by its content: twice changes nothing, and of
one that grew at its end only the new lines are recorded. A bad line refuses the whole file, unless --skip-bad says
where bad lines go. Column names match whatever their case. Negative amounts are refunds.`,
  group: group.setUp,
  examples: [
    `import orders.csv --restaurant soho --date-column "Order Date" --date-format "dd/MM/yyyy HH:mm" \\
      --quantity-column Quantity --price-column "Product Price" --zone Europe/London --currency GBP`,
    `import outlets.csv --restaurant-column City --date-column "Order Date" --date-format "dd/MM/yy HH:mm" \\
      --amount-column Amount --zone Europe/London --cutoff 04:00 --currency GBP --skip-bad bad-lines.csv`,
    `import orders.csv --restaurant soho --dry-run`,
  ],
  notInOrder: "bad lines were left out (--skip-bad), or there is no sale in the file",
  define(definition, perform) {
    const command = definition
      .argument(
        "<file...>",
        "CSV files, each in a transaction of its own; .gz and .zip are unpacked, - is standard input",
      )
      .optionsGroup("Whose sales:")
      .option("--restaurant <id>", "all lines belong to this restaurant")
      .option("--restaurant-column <name>", "the column that says whose line it is")
      .option("--create", acceptances.create)
      .option("--no-create", "refuse restaurants that are not known, instead of recording them")
      .optionsGroup("When:")
      .option("--date-column <name>", 'the column with the local date and time of a sale (default: "date")')
      .option("--time-column <name>", "the column with its time, if that is another one")
      .option(
        "--date-format <tokens>",
        'how they are written, in Unicode date tokens: the date, a blank and the time (default: "yyyy-MM-dd HH:mm"; others: dd/MM/yy HH:mm, M/d/yy h:mm a, yyyy-MM-dd HH:mm:ss.SSS; X is an offset or Z, t seconds since 1970)',
      )
      .option("--date <date>", "the business date of all lines, of a file that has no dates", parseBusinessDate)
      .option("--zone-column <name>", "the column with the zone, of new restaurants and of known ones")
      .option("--zone <zone>", "IANA time zone: of new restaurants, and what known ones must have")
      .option("--cutoff <HH:MM>", "sales before this time belong to the date before (new restaurants: 00:00)")
      .optionsGroup("How much:")
      .option("--amount-column <name>", 'the column with the amount (default: "amount")')
      .option("--quantity-column <name>", "with --price-column: amount = quantity × price")
      .option("--price-column <name>", "with --quantity-column")
      .option("--currency-column <name>", "the column with the currency, of new restaurants and of known ones")
      .option("--currency <code>", "ISO 4217 code: of new restaurants, and what known ones must have")
      .option("--decimal-comma", "numbers are written 1.234,50", false)
      .option("--decimal-comma-column <name>", "only those of this column are; once for each", collect)
      .optionsGroup("The file:")
      .option(
        "--delimiter <character>",
        'what separates fields; \\t for a tab (default: what a first line "sep=;" says, or a comma)',
      )
      .option("--skip-lines <n>", "lines before the header: a title, a date of printing", wholeNumber(0, 1_000), 0)
      .addOption(encoding)
      .option("--skip-bad <file>", "record the good lines, write the bad ones with their reasons to this file")
      .optionsGroup("Which lines are sales:")
      .option(
        "--only <column=value>",
        "leave out lines that say otherwise; values of one column are alternatives",
        columnValue,
      )
      .option("--except <column=value>", "leave out lines that say so; may be given several times", columnValue)
      .optionsGroup("Which sale a line is:")
      .option("--id-column <name>", "a column of the sale's id; once for each part of it (Order ID, Line)", collect)
      .option(
        "--source <name>",
        "where ids and files come from, if one restaurant has several such: a till, a platform",
      )
      .optionsGroup("Once and for all:")
      .addOption(optionsFile)
      .addOption(savedOptions)
      .optionsGroup("Before it is recorded:")
      .option("--dry-run", "do all of it, say what would come of it, and take it back: nothing stays", false)
      .optionsGroup("What is meant, where it would be refused otherwise:");
    for (const [name, text] of Object.entries(acceptances)) if (name !== "create") command.option(`--${name}`, text);
    command.action((files, { options: path }) =>
      perform(async (terminal) => {
        const { givenOptions, readOptionsFile } = await import("../arguments/options-file.ts");
        if (path !== undefined) await readOptionsFile(command, path);
        const options = command.opts();
        const given = givenOptions(command);
        const { importFiles } = await import("../verbs/import.ts");
        return importFiles(terminal, { files, ...options, given, accepted: acceptedOf(options) });
      }),
    );
  },
};

/** Which of the options were given that say: it is meant. */
function acceptedOf(options: object): ReadonlySet<Acceptance> {
  const given = new Map(Object.entries(options));
  const names = Object.keys(acceptances) as Acceptance[];
  return new Set(names.filter((name) => given.get(camelCase(name)) === true));
}

function camelCase(name: string): string {
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
