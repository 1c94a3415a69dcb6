import { InvalidArgumentError } from "@commander-js/extra-typings";

/** Why something is done, for the audit log: said in words, or the option is left out. */
export function parseReason(text: string): string {
  const reason = text.trim();
  if (reason === "") throw new InvalidArgumentError("Say why in words: the audit log keeps it.");
  return reason;
}
