/** All verbs as one commander program. */
import { Command, Help, type HelpConfiguration } from "@commander-js/extra-typings";
import manifest from "../package.json" with { type: "json" };
import type { CommandDefinition, CommandGroup, Perform } from "./command.ts";
import { commands } from "./commands/index.ts";
import type { Streams } from "./terminal.ts";

interface ProgramOptions {
  readonly args: readonly string[];
  readonly streams: Streams;
  readonly perform: Perform;
}

/** Makes the program. It never ends the process: whatever cannot be run is thrown as a CommanderError, unprinted. */
export async function makeProgram({ args, streams, perform }: ProgramOptions): Promise<Command> {
  const program = new Command("nightwriter")
    .description("Nightly jobs, one writer per key, totals that are right even when the locks are not.")
    .version(manifest.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [verb]", "print the help of a verb")
    .usage("VERB [options]")
    .configureHelp(help)
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
      outputError: () => undefined,
    })
    .exitOverride()
    .addHelpText("after", `\n${exitCodesText("what was asked about is not in order")}\n\n${AFTERWORD}`);
  for (const definition of commands) {
    const asked = args.includes(definition.name);
    // Loaded for the verb in question only: commander builds help synchronously.
    addCommand(program, { definition, perform, more: asked ? await definition.more?.() : undefined });
  }
  return program;
}

/** A list of verbs without `[options]` behind each, and flags without the news that they are off by default. */
const help: HelpConfiguration = {
  subcommandTerm: (command) =>
    [command.name(), ...command.registeredArguments.map((argument) => `<${argument.name()}>`)].join(" "),
  optionDescription: (option) => Help.prototype.optionDescription(option).replace(" (default: false)", ""),
};

const AFTERWORD = `Every verb takes --json and --help. DATABASE_URL says which Postgres to work on: nightwriter worker --help
lists the settings.`;

/** The names of all verbs. */
export const verbs: readonly string[] = commands.map(({ name }) => name);

/** The verb that stands among the words, with its subverb if it has one: `lease plan`. Undefined: there is none. */
export function verbAmong(words: readonly string[]): string | undefined {
  const verb = commands.find(({ name }) => words.includes(name));
  const subverb = verb?.subverbs?.find(({ name }) => words.includes(name));
  return subverb === undefined ? verb?.name : `${verb?.name} ${subverb.name}`;
}

type Verb = {
  readonly definition: CommandDefinition | CommandGroup;
  readonly perform: Perform;
  readonly more: string | undefined;
};

function addCommand(parent: Command, { definition, perform, more }: Verb): void {
  const command = parent
    .command(definition.name)
    .summary(definition.summary)
    .description(definition.description.replaceAll("\n", " "))
    .helpGroup(definition.group)
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", `\n${helpAfter(definition, more)}`);
  const { subverbs = [] } = definition;
  // What stands behind a subverb is the subverb's, also where the verb before it has an option of that name.
  if (subverbs.length > 0) command.helpCommand(false).enablePositionalOptions();
  for (const subverb of subverbs) addCommand(command, { definition: subverb, perform, more: undefined });
  if (!("define" in definition)) return;
  command
    .option("--json", "print one JSON document on stdout; amounts are minor units, as strings")
    .option("--verbose", "log more, and show where a fault happened");
  definition.define(command, perform);
}

function helpAfter({ examples, notInOrder }: Verb["definition"], more: string | undefined): string {
  const lines = ["Examples:", ...examples.map((example) => `  nightwriter ${example}`), "", exitCodesText(notInOrder)];
  return more === undefined ? lines.join("\n") : [...lines, "", more].join("\n");
}

function exitCodesText(notInOrder: string | undefined): string {
  const lines = [
    "Exit codes:",
    "  0  done and in order",
    "  1  a fault, such as a database that is away",
    "  2  wrong usage",
  ];
  if (notInOrder !== undefined) lines.push(`  3  done, but ${notInOrder}`);
  return lines.join("\n");
}
