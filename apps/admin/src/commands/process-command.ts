import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

/** The apps that run until they are told to stop. */
export type ProcessName = "scheduler" | "worker" | "dashboard";

type Words = { readonly name: ProcessName; readonly summary: string; readonly description: string };

/** A verb that turns this process into one of the apps. */
export function processCommand({ name, summary, description }: Words): CommandDefinition {
  return {
    name,
    summary,
    description,
    group: group.processes,
    examples: [name, `${name} --verbose`],
    more: async () => (await import("../output/settings-table.ts")).settingsTable(),
    define(command, perform) {
      command.action(() =>
        perform(async (terminal) => (await import("../verbs/become-process.ts")).becomeProcess(terminal, name)),
      );
    },
  };
}
