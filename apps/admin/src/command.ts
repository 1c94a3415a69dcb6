/**
 * What the command line knows of a verb before it runs: its words. The work itself is loaded only when it is asked for,
 * so that `--help` need not wait for database drivers.
 */
import type { Command } from "@commander-js/extra-typings";
import type { Answer } from "./answer.ts";
import type { Terminal } from "./terminal.ts";

/** Runs the work of a verb with its terminal, and keeps its answer for the end. */
export type Perform = (work: (terminal: Terminal) => Promise<Answer>) => Promise<void>;

/** What the help of a verb is made of. */
interface CommandWords {
  /** The verb. */
  readonly name: string;
  /** One line for the list of all verbs. */
  readonly summary: string;
  /** What is true afterwards, for the verb's own help. */
  readonly description: string;
  /** The heading that it stands under in the list. */
  readonly group: string;
  /** Whole command lines without the program's name. */
  readonly examples: readonly string[];
  /** What exit code 3 means here. Absent: the verb never ends with it. */
  readonly notInOrder?: string;
  /** A last paragraph of the verb's help. */
  readonly more?: () => Promise<string>;
  /** Verbs that follow this one: `partitions resize`. */
  readonly subverbs?: readonly CommandDefinition[];
}

export interface CommandDefinition extends CommandWords {
  /** Adds arguments, options and the action. `--json` and `--verbose` are there already. */
  define(command: Command, perform: Perform): void;
}

/** A verb that means nothing alone: `lease plan`. */
export interface CommandGroup extends CommandWords {
  readonly subverbs: readonly CommandDefinition[];
}
