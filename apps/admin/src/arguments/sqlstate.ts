import { InvalidArgumentError } from "@commander-js/extra-typings";

const PATTERN = /^[0-9A-Z]{5}$/;

/** Gathers SQLSTATEs, each once. */
export function collectSqlstates(text: string, previous: readonly string[] | undefined): readonly string[] {
  if (!PATTERN.test(text)) throw new InvalidArgumentError("Write it as five digits or capital letters: 22003.");
  return [...new Set([...(previous ?? []), text])];
}
