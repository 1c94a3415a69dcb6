import { Command } from "@commander-js/extra-typings";
import { expect, it } from "vitest";
import type { CommandDefinition, CommandGroup } from "../command.ts";
import { commands } from "../commands/index.ts";
import { parseReason } from "./reason.ts";

it("a reason is what stands between the blanks", () => {
  expect(parseReason("  ticket 4711 ")).toBe("ticket 4711");
});

const definitions = (each: CommandDefinition | CommandGroup): CommandDefinition[] => [
  ...("define" in each ? [each] : []),
  ...(each.subverbs ?? []),
];

/** Verbs that take a reason, with how they read it. */
const asking = commands.flatMap(definitions).flatMap((definition) => {
  const command = new Command();
  definition.define(command, async () => undefined);
  const option = command.options.find(({ long }) => long === "--reason");
  return option === undefined ? [] : [{ name: definition.name, read: option.parseArg }];
});

it("some verbs take one", () => {
  expect(asking.map(({ name }) => name)).toEqual(expect.arrayContaining(["acknowledge", "retry", "deploy", "fork"]));
});

it.each(asking)("$name takes no reason of blanks alone", ({ read }) => {
  expect(() => read?.(" \t ", undefined)).toThrow("Say why in words");
  expect(read?.(" why ", undefined)).toBe("why");
});
